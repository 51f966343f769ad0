import type { Page, Request } from "playwright-core";
import type { ConsoleUnderTest } from "./console-under-test.ts";
import { countRow, type Row, timeRow } from "./rows.ts";

const MOST_REQUESTS = 4;
const MOST_PAINT_MS = 500;
/** Who is signed in is no data of the page. */
const NO_DATA = new Set(["/v1/me"]);

/** Counts what a browser without a cache asks for until Coverage has its first data, and times its first paint. */
export async function measureFirstLoad({ newTab, projectId }: ConsoleUnderTest): Promise<Row[]> {
  await using tab = await newTab();
  const requests = watchRequests(tab.page);
  await tab.open(`/p/${projectId}/coverage`);
  const until = requests.untilFirstData();
  const note = [...Map.groupBy(until, kindOf)].map(([kind, all]) => `${all.length} ${kind}`).join(", ");
  const calls = until.map(pathOf).filter((path) => path.startsWith("/v1/"));
  const paintMs = await tab.page.evaluate<number>(
    "performance.getEntriesByName('first-contentful-paint')[0].startTime",
  );
  return [
    countRow({
      what: "requests until Coverage has its first data",
      value: until.length,
      most: MOST_REQUESTS,
      note: `${note}; calls: ${calls.join(", ")}`,
    }),
    timeRow({ what: "first contentful paint of Coverage", value: paintMs, most: MOST_PAINT_MS }),
  ];
}

function watchRequests(page: Page) {
  const begun: Request[] = [];
  let first: readonly Request[] | undefined;
  page.on("request", (request) => void begun.push(request));
  page.on("requestfinished", (request) => {
    const path = pathOf(request);
    if (path.startsWith("/v1/") && !NO_DATA.has(path)) first ??= [...begun];
  });
  return {
    /** Returns what was asked for until the first answer with data had come. */
    untilFirstData: () => first ?? begun,
  };
}

function pathOf(request: Request): string {
  return new URL(request.url()).pathname;
}

function kindOf(request: Request): string {
  const path = pathOf(request);
  if (path.startsWith("/v1/")) return "API";
  return /\.(js|css|svg)$/.exec(path)?.[1] ?? "page";
}
