// How fast training sets are built, beside a copy of the same recordings, and how the service answers meanwhile:
//
//   npm run bench:training [-- --episodes 8] [--seconds 20] [--rounds 3]
//
// A control plane of its own has recordings with two cameras. It prints seconds a gigabyte of each format, the growth of its memory, and how long
// a list takes that is read again and again, in the idle service and beside a build. It never fails for a time.
import { copyFile, mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { api, type TrainingFormat } from "@downlink/protocol";
import { request } from "undici";
import { startControlPlane } from "../../processes/control-plane.ts";
import { makeTable } from "../../terminal/make-table.ts";
import { figuresOf, resetPeak } from "../agent/process-figures.ts";
import { say } from "../report.ts";
import { makeCameraRecording } from "./camera-recording.ts";

const START_NS = 1_767_323_045_000_000_000n;
const FORMATS = ["lerobot-v3", "parquet"] as const;
const POLL_MS = 100;
const BETWEEN_LISTS_MS = 5;

const { values } = parseArgs({
  options: {
    episodes: { type: "string", default: "8" },
    seconds: { type: "string", default: "20" },
    rounds: { type: "string", default: "3" },
  },
});
const [episodeCount, seconds, rounds] = [Number(values.episodes), Number(values.seconds), Number(values.rounds)];

await using closing = new AsyncDisposableStack();
const folder = await mkdtemp(join(tmpdir(), "downlink-bench-training-"));
closing.defer(() => rm(folder, { recursive: true }));
const cloud = closing.use(await startControlPlane({ dataDir: join(folder, "data") }));
const { admin, program } = cloud;
const { datasetId, bytes } = await makeDataset();
const gigabytes = bytes.length / 1e9;
say(`${episodeCount} episodes of ${seconds} s, ${(bytes.length / 1e6).toFixed(0)} MB; ${rounds} rounds`);
const idle = await listWhile(delay(3000));
const table = makeTable(["", "s a GB", "× copy", "memory grows, MB", "list p50, ms", "p99", "longest"]);
table.push(["idle", "", "", "", ...idle]);
for (let round = 0; round < rounds; round += 1) {
  const copySeconds = await timeSeconds(copyAll());
  table.push(["copy", (copySeconds / gigabytes).toFixed(1), "1", "", "", "", ""]);
  for (const format of FORMATS) {
    const mappingId = await keepMapping(`round ${round} ${format}`, round);
    const { rssMB } = await figuresOf(program.pid);
    await resetPeak(program.pid);
    const building = timeSeconds(build(format, mappingId));
    const lists = await listWhile(building);
    const takenSeconds = await building;
    const { peakRssMB } = await figuresOf(program.pid);
    const times = [(takenSeconds / gigabytes).toFixed(1), (takenSeconds / copySeconds).toFixed(1)];
    table.push([format, ...times, (peakRssMB - rssMB).toFixed(0), ...lists]);
  }
}
say(table.toString());

async function makeDataset(): Promise<{ datasetId: string; bytes: Buffer }> {
  const made: Buffer[] = [];
  for (let n = 0; n < episodeCount; n += 1) {
    const body = await makeCameraRecording(START_NS + BigInt(n) * 1_000_000_000_000n, seconds);
    const { link } = await admin.call(api.uploads.create, { filename: `${n}.mcap`, deviceName: "arm" });
    const headers = { "content-type": "application/octet-stream" };
    await (await request(link, { method: "PUT", headers, body })).body.dump();
    made.push(body);
  }
  const list = () => admin.call(api.recordings.list, { importStatus: ["complete"] });
  let recordings = await list();
  for (; recordings.length < episodeCount; recordings = await list()) await delay(POLL_MS);
  const { projectId } = recordings[0]!;
  const asked = recordings.map(({ id, start, end }) => {
    return { startTime: start, endTime: end, metadata: { task: "pick" }, recordings: [id] };
  });
  const { episodes } = await admin.call(api.episodes.getOrCreate, { projectId, episodes: asked });
  const episodeIds = episodes.map(({ id }) => id);
  const { id } = await admin.call(api.datasets.create, { projectId, name: "picks", episodeIds });
  await admin.call(api.datasetVersions.commit, { id });
  return { datasetId: id, bytes: Buffer.concat(made) };
}

/** Each round has a mapping of its own, because the same one is answered with the set that is there. */
async function keepMapping(name: string, round: number): Promise<string> {
  const camera = (topic: string) => ({ dtype: "image" as const, parts: [{ topic, align: "nearest" as const }] });
  const mapping = {
    fps: 30,
    robotType: `arm ${round}`,
    topics: ["/front", "/wrist", "/joints"],
    features: {
      "observation.state": { dtype: "float32" as const, parts: [{ topic: "/joints", field: "position" }] },
      action: { dtype: "float32" as const, shiftRows: 1, parts: [{ topic: "/joints", field: "position" }] },
      "observation.images.front": camera("/front"),
      "observation.images.wrist": camera("/wrist"),
    },
  };
  return (await admin.call(api.datasetMappings.create, { id: datasetId, name, mapping })).id;
}

async function build(format: TrainingFormat, mappingId: string): Promise<void> {
  const { id } = await admin.call(api.trainingSets.create, { id: datasetId, versionNumber: 1, mappingId, format });
  for (;;) {
    const { state, failure } = await admin.call(api.trainingSets.get, { id });
    if (state === "ready") return void (await admin.call(api.trainingSets.delete, { id }));
    if (state !== "building") throw new Error(failure);
    await delay(POLL_MS);
  }
}

/** Writes and copies the recordings, with all bytes on the disk. */
async function copyAll(): Promise<void> {
  const [from, to] = [join(folder, "from"), join(folder, "to")];
  await writeFile(from, bytes, { flush: true });
  await copyFile(from, to);
  await using file = await open(to);
  await file.sync();
}

/** Lists events until the work is done. Returns the median, the 99th percentile and the longest of the times, in milliseconds. */
async function listWhile(work: Promise<unknown>): Promise<string[]> {
  const times: number[] = [];
  let isDone = false;
  const ended = work.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    times.push(1000 * (await timeSeconds(admin.call(api.events.list, { limit: 10 }))));
    await delay(BETWEEN_LISTS_MS);
  }
  await ended;
  times.sort((one, other) => one - other);
  return [0.5, 0.99, 1].map((share) => times[Math.ceil(share * times.length) - 1]!.toFixed(1));
}

async function timeSeconds(work: Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work;
  return (performance.now() - startedMs) / 1000;
}
