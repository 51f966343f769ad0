import { setTimeout as delay } from "node:timers/promises";
import type { Page, Request } from "playwright-core";
import type { ConsoleUnderTest } from "./console-under-test.ts";
import { countRow, type Row, timeRow } from "./rows.ts";

const MOST_REQUESTS = 8;
const MOST_PAINT_MS = 500;
/** These calls fetch no data of the page: one returns who is signed in, the other reports changes. */
const NO_DATA = new Set(["/v1/me", "/v1/changes"]);
/** So long they are held at most: if the data wait for one of them, it counts. */
const HELD_MS = 10_000;

/** Counts what the first data of Coverage waits for in a browser without a cache, and times its first paint. */
export async function measureFirstLoad({ newTab, projectId }: ConsoleUnderTest): Promise<Row[]> {
  await using tab = await newTab();
  const requests = watchRequests(tab.page);
  await tab.page.route(
    ({ pathname }) => NO_DATA.has(pathname),
    async (route) => {
      await Promise.race([requests.firstData, delay(HELD_MS, undefined, { ref: false })]);
      await route.continue();
    },
  );
  await tab.open(`/p/${projectId}/coverage`);
  const { awaited, begun } = requests.untilFirstData();
  const note = `${begun.length} had begun by then`;
  const paintMs = await tab.page.evaluate<number>(
    "performance.getEntriesByName('first-contentful-paint')[0].startTime",
  );
  return [
    countRow({
      what: "requests that the first data of Coverage waits for",
      value: awaited.length,
      most: MOST_REQUESTS,
      note,
    }),
    countRow({ what: "times that Coverage asks for the same recordings", ...requests.mostAlike(), most: 1 }),
    timeRow({ what: "first contentful paint of Coverage", value: paintMs, most: MOST_PAINT_MS }),
  ];
}

interface FirstData {
  /** The requests that had ended when the call for the data was sent, and that call itself. */
  readonly awaited: readonly Request[];
  readonly begun: readonly Request[];
}

function watchRequests(page: Page) {
  const begun: Request[] = [];
  const ended: Request[] = [];
  const endedBefore = new Map<Request, readonly Request[]>();
  let first: FirstData | undefined;
  const came = Promise.withResolvers<void>();
  page.on("request", (request) => {
    begun.push(request);
    endedBefore.set(request, [...ended]);
  });
  page.on("requestfinished", (request) => {
    ended.push(request);
    const path = pathOf(request);
    if (first || !path.startsWith("/v1/") || NO_DATA.has(path)) return;
    first = { awaited: [...(endedBefore.get(request) ?? []), request], begun: [...begun] };
    came.resolve();
  });
  return {
    firstData: came.promise,
    untilFirstData: () => first ?? { awaited: ended, begun },
    mostAlike: () => findMostAlike(begun),
  };
}

/** Returns how often the call for recordings, or for their sums, was sent that was sent most often, and which it is. */
function findMostAlike(begun: readonly Request[]): { value: number; note: string } {
  const calls = begun.filter((request) => pathOf(request).startsWith("/v1/recordings"));
  const alike = [
    ...Map.groupBy(calls, (request) => `${request.method()} ${request.url()} ${request.postData() ?? ""}`),
  ];
  const [, most] = alike.toSorted(([, one], [, other]) => other.length - one.length)[0]!;
  return { value: most.length, note: `${pathOf(most[0]!)}, among ${calls.length} calls` };
}

function pathOf(request: Request): string {
  return new URL(request.url()).pathname;
}
