import { open } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { api, type Input } from "@downlink/protocol";
import { DRIVE_START_NS } from "@downlink/recordings/testing";
import { request } from "undici";
import type { ControlPlane } from "../../processes/control-plane.ts";
import { say } from "../report.ts";
import { type BucketUnderTest, startInBucket, transferRaw } from "./bucket-under-test.ts";
import { type Compared, compare, median } from "./compared.ts";
import { createUsage } from "./processor-usage.ts";
import { type RequestCounts, startRequestProxy } from "./request-proxy.ts";

const NAME = "exports";
const KEY = "drive";
const LATENCY_MS = 20;
const FIRST_BYTE_MS = 300;
const POLL_MS = 50;
const PIECE_BYTES = 1024 * 1024;

type Selection = Partial<Pick<Input<(typeof api.exports)["create"]>, "start" | "end" | "topics">>;

const selections: Readonly<Record<string, Selection>> = {
  "a window of 10 s": { start: timeAt(1), end: timeAt(11) },
  "a window of 1 s": { start: timeAt(5), end: timeAt(6) },
  "one small topic": { topics: ["/events"] },
  everything: {},
};

/** Measures one recording, and counts its requests on the way: importing it, and each selection with and without latency. */
export async function measureExports(bucket: BucketUnderTest, path: string, runs: number): Promise<Compared[]> {
  const compared = await measureLatency(bucket, path, runs);
  await using cloud = await startInBucket(bucket, { name: NAME });
  const usage = createUsage(cloud);
  const about = { name: "whole export", target: { least: 0.8 } };
  const measured = () => usage.of("a whole export", async () => await download(await linkTo(cloud, {})));
  const oneGet = () => usage.of("one GET, passed on", async () => await download(await fileLink(cloud)));
  compared.push(await compare(runs, { ...about, reference: "one GET, passed on" }, { measured, referred: oneGet }));
  const referred = () => usage.ofRaw(() => transferRaw(bucket, "get", `${NAME}/`));
  compared.push(await compare(runs, { ...about, reference: "one GET by the SDK" }, { measured, referred }));
  usage.report();
  return compared;
}

async function measureLatency(bucket: BucketUnderTest, path: string, runs: number): Promise<Compared[]> {
  await using proxy = await startRequestProxy(bucket.ceph.endpoint);
  await using cloud = await startInBucket(bucket, { name: NAME, endpoint: proxy.endpoint });
  await upload(cloud, path);
  proxy.takeCounts();
  await untilImported(cloud);
  printCounts("to import it", proxy.takeCounts());
  const compared: Compared[] = [];
  for (const [name, selection] of Object.entries(selections)) {
    const firstBytesMs: number[] = [];
    const exportOver = async (delayMs: number): Promise<number> => {
      const link = await linkTo(cloud, selection);
      proxy.setDelay(delayMs);
      proxy.takeCounts();
      const { seconds, firstByteMs } = await download(link);
      if (delayMs > 0) firstBytesMs.push(firstByteMs);
      return seconds;
    };
    const about = { name: `${name}, ${LATENCY_MS} ms a request`, reference: "without", target: { most: 2 } };
    const referred = () => exportOver(0);
    compared.push(await compare(runs, about, { measured: () => exportOver(LATENCY_MS), referred }));
    printCounts(`to export ${name}`, proxy.takeCounts());
    printFirstByte(name, median(firstBytesMs.slice(1)));
  }
  return compared;
}

function printCounts(what: string, { requests, reads, sentBytes }: RequestCounts): void {
  say(`${what}: ${requests} requests, ${reads} of them reads, ${(sentBytes / 1e6).toFixed(1)} MB`);
}

function printFirstByte(name: string, ms: number): void {
  const mark = ms > FIRST_BYTE_MS ? " !" : "";
  say(`  first byte with ${LATENCY_MS} ms a request: ${ms.toFixed(0)} ms${mark}, wanted ≤ ${FIRST_BYTE_MS} (${name})`);
}

function timeAt(seconds: number): bigint {
  return DRIVE_START_NS + BigInt(seconds) * 1_000_000_000n;
}

async function upload(cloud: ControlPlane, path: string): Promise<void> {
  const { link } = await cloud.admin.call(api.uploads.create, {
    filename: "drive.mcap",
    deviceName: "bench",
    key: KEY,
  });
  await using file = await open(path);
  const answer = await request(link, {
    method: "PUT",
    headers: { "content-type": "application/octet-stream", "content-length": String((await file.stat()).size) },
    body: file.createReadStream({ highWaterMark: PIECE_BYTES, autoClose: false }),
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`the upload was refused: ${text}`);
}

async function untilImported(cloud: ControlPlane): Promise<void> {
  for (;;) {
    const [recording] = await cloud.admin.call(api.recordings.list, {});
    if (recording?.importStatus === "complete") return;
    await delay(POLL_MS);
  }
}

async function linkTo({ admin }: ControlPlane, selection: Selection): Promise<string> {
  const { id } = await admin.call(api.recordings.get, { keyOrId: KEY });
  return (await admin.call(api.exports.create, { ...selection, recordingId: id, compressionFormat: "zstd" })).link;
}

/** Makes a link to the stored file as it is, which takes one GET of the object. */
async function fileLink({ admin, adminKey, url }: ControlPlane): Promise<string> {
  const [request] = await admin.call(api.pendingImports.list, { showCompleted: true });
  const answer = await fetch(`${url}/v1/data/pending-imports/${request!.requestId}/file`, {
    headers: { authorization: `Bearer ${adminKey}` },
    redirect: "manual",
  });
  return answer.headers.get("location")!;
}

/** Downloads and discards the bytes. */
async function download(link: string): Promise<{ seconds: number; firstByteMs: number }> {
  const startedMs = performance.now();
  const { body, statusCode } = await request(link);
  if (statusCode !== 200) throw new Error(`${link} answered ${statusCode}: ${await body.text()}`);
  let firstByteMs = 0;
  for await (const _ of body) firstByteMs ||= performance.now() - startedMs;
  return { seconds: (performance.now() - startedMs) / 1000, firstByteMs };
}
