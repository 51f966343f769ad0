import { existsSync } from "node:fs";
import { eventually } from "@downlink/recordings/testing";
import { type Browser, type BrowserContext, chromium, type Page, type Request } from "playwright-core";

const CHROMIUM = "/usr/bin/chromium";
/** Without these it looks for hosts of its maker at every start. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/**
 * Returns why nothing can be tested in a browser here; undefined if it can. In a CI build it throws instead, because developers do not read
 * there which tests were skipped.
 */
export function whyNoBrowser(): string | undefined {
  if (existsSync(CHROMIUM)) return undefined;
  const why = `there is no ${CHROMIUM}: apt-get install chromium`;
  if (process.env.CI) throw new Error(why);
  console.error(`NOT TESTED: ${why}`);
  return why;
}

export async function startBrowser(): Promise<Browser & AsyncDisposable> {
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
}

export interface Watched {
  readonly page: Page;
  readonly context: BrowserContext;
  /** The complaints of the page: errors of scripts, violations of its policy, requests that failed on our side. */
  readonly complaints: string[];
  /** Waits until nothing was asked for a while. */
  settled(): Promise<void>;
}

interface Look {
  readonly theme?: "light" | "dark";
  readonly width?: number;
  readonly height?: number;
  /** How many pixels of the screen one of the page takes in each direction. */
  readonly pixelRatio?: number;
  /** The zone of the browser, as `Europe/Berlin`; absent for that of the machine. */
  readonly timeZone?: string;
}

/** Opens a tab in which nothing that goes wrong is overlooked. */
export async function openPage(
  browser: Browser,
  { theme = "light", width = 1280, height = 800, pixelRatio = 1, timeZone }: Look = {},
): Promise<Watched> {
  const context = await browser.newContext({
    colorScheme: theme,
    viewport: { width, height },
    deviceScaleFactor: pixelRatio,
    reducedMotion: "reduce",
    ...(timeZone === undefined ? {} : { timezoneId: timeZone }),
  });
  await context.grantPermissions(["clipboard-write", "clipboard-read"]);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(`error: ${error.stack ?? error.message}`));
  page.on("console", (message) => {
    // A refused call is logged by the browser itself; tests that provoke one expect it.
    if (message.type() === "error" && !/^Failed to load resource/.test(message.text())) complaints.push(message.text());
  });
  page.on("response", (response) => {
    if (response.status() >= 500) complaints.push(`${response.status()} ${response.url()}`);
  });
  return { page, context, complaints, settled: watchRequests(page) };
}

/** Signs in with an API key, which is exchanged for a session. */
export async function signIn(page: Page, url: string, apiKey: string): Promise<void> {
  const answer = await page.request.post(`${url}/v1/session`, { data: { apiKey }, headers: { origin: url } });
  if (!answer.ok()) throw new Error(`sign-in: ${answer.status()} ${await answer.text()}`);
}

const QUIET_MS = 500;
/** This call waits until something happens. */
const WAITING_PATH = "/v1/changes";

/**
 * Returns what waits until nothing was asked for a while, but for the call that waits until something happens, because of which the
 * browser's own state of the network is never idle.
 */
function watchRequests(page: Page): () => Promise<void> {
  const open = new Set<Request>();
  let changedMs = performance.now();
  const change = (act: (request: Request) => void) => (request: Request) => {
    if (new URL(request.url()).pathname === WAITING_PATH) return;
    act(request);
    changedMs = performance.now();
  };
  page.on(
    "request",
    change((request) => open.add(request)),
  );
  page.on(
    "requestfinished",
    change((request) => open.delete(request)),
  );
  page.on(
    "requestfailed",
    change((request) => open.delete(request)),
  );
  return async () => {
    changedMs = performance.now();
    await eventually(
      async () => open.size === 0 && performance.now() - changedMs > QUIET_MS,
      (isQuiet) => isQuiet,
    );
  };
}
