import { join } from "node:path";
import { api } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import pg from "pg";
import type { Browser } from "playwright-core";
import { openPage, signIn, startBrowser, type Watched } from "../../console/testing/browser.ts";
import { makeSensorRecording } from "../../console/testing/sensor-recording.ts";
import { type ControlPlane, startControlPlane } from "../../processes/control-plane.ts";
import { startExternalPostgres } from "../../processes/external-postgres.ts";
import { makeFolderUntilExit } from "../../processes/folder-until-exit.ts";
import { RECORDING_EVERY_NS } from "../recording-dataset.ts";
import { say } from "../report.ts";
import { seed } from "../seed.ts";

export interface ConsoleUnderTest extends AsyncDisposable {
  readonly cloud: ControlPlane;
  readonly browser: Browser;
  readonly projectId: string;
  /** The number of inserted recordings, which lie `RECORDING_EVERY_NS` apart. */
  readonly recordings: number;
  readonly devices: number;
  /** A recording with real bytes, which was imported. */
  readonly sensorRecordingId: string;
  /** Makes a tab in a browser context of its own, signed in, as large as the budgets say. Nothing is opened in it yet. */
  newTab(): Promise<Tab>;
}

export interface Tab extends Watched, AsyncDisposable {
  /** Opens an address of the console, and resolves once the page is there and asks for nothing more. */
  open(path: string): Promise<void>;
}

interface Size {
  readonly devices: number;
  readonly recordings: number;
}

/** The budgets of the timeline are for this screen, with two pixels for each of these. */
const LOOK = { width: 1600, height: 900, pixelRatio: 2 };

/** Starts a control plane, fills its database and starts a browser. */
export async function startConsoleUnderTest(size: Size): Promise<ConsoleUnderTest> {
  await using starting = new AsyncDisposableStack();
  const folder = makeFolderUntilExit("/dev/shm", "downlink-console-");
  const postgres = starting.use(await startExternalPostgres(join(folder, "postgres")));
  const env = { DATABASE_URL: postgres.url, DOWNLINK_RATE_LIMIT: "100000000" };
  const cloud = starting.use(await startControlPlane({ dataDir: join(folder, "cloud"), env }));
  const { projectId } = await insertFleet(postgres.url, size);
  const sensorRecordingId = await uploadSensorRecording(cloud, projectId);
  const browser = starting.use(await startBrowser());
  const running = starting.move();
  return {
    ...size,
    cloud,
    browser,
    projectId,
    sensorRecordingId,
    newTab: () => makeTab(browser, cloud),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function makeTab(browser: Browser, { url, adminKey }: ControlPlane): Promise<Tab> {
  const watched = await openPage(browser, LOOK);
  const { page, context } = watched;
  await signIn(page, url, adminKey);
  return {
    ...watched,
    async open(path) {
      await page.goto(url + path);
      await page.locator("#page :is(h1, h2, .empty)").first().waitFor();
      await watched.settled();
    },
    [Symbol.asyncDispose]: () => context.close(),
  };
}

async function uploadSensorRecording({ admin }: ControlPlane, projectId: string): Promise<string> {
  const { link, requestId } = await admin.call(api.uploads.create, {
    projectId,
    filename: "sensors.mcap",
    key: "sensors",
  });
  const headers = { "content-type": "application/octet-stream" };
  const answer = await fetch(link, { method: "PUT", headers, body: await makeSensorRecording() });
  if (!answer.ok) throw new Error(`the upload was refused: ${await answer.text()}`);
  const query = { requestId, showCompleted: true, showQuarantined: true };
  await eventually(
    () => admin.call(api.pendingImports.list, query),
    ([found]) => found?.status === "complete",
  );
  return (await admin.call(api.recordings.get, { keyOrId: "sensors", projectId })).id;
}

/** A year of 300,000 recordings, with a few rows of everything else that pages show. */
async function insertFleet(url: string, { devices, recordings }: Size): Promise<{ projectId: string }> {
  const pool = new pg.Pool({ connectionString: url });
  try {
    const few = { intervals: devices, unusedProperties: 20, imports: 1000, episodes: 1000 };
    const many = { devices, recordedDevices: devices, recordings, sessions: Math.ceil(recordings / 20) };
    const days = (Number(RECORDING_EVERY_NS) * recordings) / 86_400e9;
    const events = Math.ceil(recordings / 10);
    say(`${devices} devices and ${recordings} recordings of ${days.toFixed(0)} days`);
    return await seed(pool, { ...few, ...many, events }, say);
  } finally {
    await pool.end();
  }
}
