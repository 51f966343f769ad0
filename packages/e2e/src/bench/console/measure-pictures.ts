import { api } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import type { ControlPlane } from "../../processes/control-plane.ts";
import { median } from "../store/compared.ts";
import { makeCameraRecording } from "../training/camera-recording.ts";
import type { ConsoleUnderTest } from "./console-under-test.ts";
import { type Row, sizeRow, timeRow } from "./rows.ts";

const ROWS = 50;
const ROW_PX = 36;
const HEAD_PX = 300;
const MOST_LATER_MS = 300;
const MOST_BYTES = 400_000;
const TURNS = 4;
/** Pictures are made ten seconds after an import, so that most of a turn has both. */
const TURN_MS = 30_000;
const MOST_SLOWER = 1.15;
const START_NS = 1_790_000_000_000_000_000n;
const HOUR_NS = 3_600_000_000_000n;
const SECONDS = 2;
const RUNS = 5;

/** Times imports by turns in a project with pictures and in one without, and what fifty rows cost more with pictures. */
export async function measurePictures(console: ConsoleUnderTest): Promise<Row[]> {
  const { admin } = console.cloud;
  const projectOf = async (name: string, thumbnails: "own" | "none") => {
    const { id } = await admin.call(api.projects.create, { name });
    await admin.call(api.projects.update, { id, thumbnails });
    return id;
  };
  const [pictured, plain] = [await projectOf("pictured", "own"), await projectOf("plain", "none")];
  const [withMs, withoutMs]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < TURNS; turn += 1) {
    withMs.push(...(await importForAWhile(console.cloud, pictured)));
    withoutMs.push(...(await importForAWhile(console.cloud, plain)));
  }
  while ((await countRecordings(console.cloud, pictured)) < ROWS) await importOne(console.cloud, pictured);
  await untilPictured(console.cloud, pictured);
  const [ratio, counts] = [median(withMs) / median(withoutMs), `${withMs.length} and ${withoutMs.length} imports`];
  return [
    timeRow({
      what: "import of 7 MB, beside pictures that are made",
      value: median(withMs),
      most: Math.round(MOST_SLOWER * median(withoutMs)),
      note: `${ratio.toFixed(2)} × that without, by turns; ${counts}`,
    }),
    ...(await measureList(console, pictured)),
  ];
}

let made = 0n;

/** Returns how long each import took, from its upload until the recording was complete. */
async function importForAWhile(cloud: ControlPlane, projectId: string): Promise<number[]> {
  const untilMs = performance.now() + TURN_MS;
  const timesMs: number[] = [];
  while (performance.now() < untilMs) timesMs.push(await importOne(cloud, projectId));
  return timesMs;
}

async function importOne({ admin }: ControlPlane, projectId: string): Promise<number> {
  made += 1n;
  const body = await makeCameraRecording(START_NS + made * HOUR_NS, SECONDS);
  const of = { projectId, filename: `run-${made}.mcap`, deviceName: "pictured-1" };
  const startedMs = performance.now();
  const { link, requestId } = await admin.call(api.uploads.create, of);
  const answer = await fetch(link, { method: "PUT", body: body as Uint8Array<ArrayBuffer> });
  if (!answer.ok) throw new Error(`the upload was refused: ${await answer.text()}`);
  await eventually(
    () => admin.call(api.pendingImports.list, { requestId, showCompleted: true }),
    ([found]) => found?.status === "complete",
  );
  return performance.now() - startedMs;
}

const newest = (projectId: string) => ({ projectId, sortBy: "start", sortOrder: "desc", limit: ROWS }) as const;

async function countRecordings({ admin }: ControlPlane, projectId: string): Promise<number> {
  return (await admin.call(api.recordings.list, newest(projectId))).length;
}

async function untilPictured({ admin }: ControlPlane, projectId: string): Promise<void> {
  const ids = (await admin.call(api.recordings.list, newest(projectId))).map(({ id }) => id);
  await eventually(
    () => admin.call(api.thumbnails.list, { recordingIds: ids }),
    ({ thumbnails }) => thumbnails.length === ids.length,
  );
}

interface Loaded {
  readonly laterMs: number;
  readonly bytes: number;
}

/** Looks at what a page fetched: how long after the rows the last picture was here, and the bytes of all of them with the call for them. */
const LOADED = `(() => {
  const all = performance.getEntriesByType("resource");
  const of = (path) => all.filter(({ name }) => new URL(name).pathname.startsWith(path));
  const pictures = [...of("/v1/thumbnails"), ...of("/data-plane/thumbnails")];
  const last = (entries) => Math.max(...entries.map(({ responseEnd }) => responseEnd));
  const rows = of("/v1/recordings").filter(({ startTime }) => startTime < pictures[0].startTime);
  return { laterMs: last(pictures) - last(rows), bytes: pictures.reduce((sum, { transferSize }) => sum + transferSize, 0) };
})()`;

async function measureList({ newTab }: ConsoleUnderTest, projectId: string): Promise<Row[]> {
  const runs: Loaded[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    await using tab = await newTab();
    await tab.page.setViewportSize({ width: 1600, height: ROWS * ROW_PX + HEAD_PX });
    await tab.open(`/p/${projectId}/recordings`);
    const shown = await tab.page.locator("img.still").count();
    if (shown < ROWS) throw new Error(`${shown} of ${ROWS} rows have a picture`);
    runs.push(await tab.page.evaluate<Loaded>(LOADED));
  }
  const note = `${ROWS} rows, ${RUNS} tabs without a cache`;
  const [laterMs, bytes] = [median(runs.map((run) => run.laterMs)), median(runs.map((run) => run.bytes))];
  return [
    timeRow({ what: "pictures of a list, after its rows", value: laterMs, most: MOST_LATER_MS, note }),
    sizeRow({ what: "bytes of the pictures of a list", value: bytes, most: MOST_BYTES, note }),
  ];
}
