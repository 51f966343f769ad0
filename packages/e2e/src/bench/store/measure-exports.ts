import { api, type Input } from "@downlink/protocol";
import { DRIVE_START_NS } from "@downlink/recordings/testing";
import { request } from "undici";
import type { ControlPlane } from "../../processes/control-plane.ts";
import { say } from "../report.ts";
import { type BucketUnderTest, transferRaw } from "./bucket-under-test.ts";
import { type Compared, compare, median } from "./compared.ts";
import { createUsage } from "./processor-usage.ts";
import { type RequestCounts, type RequestProxy, startRequestProxy } from "./request-proxy.ts";
import type { StoreDrive, StoredDrive } from "./stored-drive.ts";

const LATENCY_MS = 20;
const FIRST_BYTE_MS = 300;

type Selection = Partial<Pick<Input<(typeof api.exports)["create"]>, "start" | "end" | "topics">>;

const selections: Readonly<Record<string, Selection>> = {
  "a window of 10 s": { start: timeAt(1), end: timeAt(11) },
  "a window of 1 s": { start: timeAt(5), end: timeAt(6) },
  "one small topic": { topics: ["/events"] },
  everything: {},
};

interface Place {
  /** The bucket that the rows are about, in words. */
  readonly where: string;
  readonly store: StoreDrive;
}

/** Measures one recording, and counts its requests on the way: importing it, and each selection with and without latency. */
export async function measureExports(
  under: BucketUnderTest,
  path: string,
  { runs, where, store }: Place & { readonly runs: number },
): Promise<Compared[]> {
  say(`${where}:`);
  await using proxy = await startRequestProxy(under.ceph.endpoint);
  const compared = await measureLatency(await store(under, path, proxy.endpoint), proxy, { runs, where });
  await using drive = await store(under, path, under.ceph.endpoint);
  const usage = createUsage(drive.cloud);
  const about = { name: `${where}: whole export`, target: { least: 0.8 } };
  const measured = () => usage.of("a whole export", async () => await download(await linkTo(drive, {})));
  const oneGet = () => usage.of("one GET, passed on", async () => await download(await fileLink(drive.cloud)));
  compared.push(await compare(runs, { ...about, reference: "one GET, passed on" }, { measured, referred: oneGet }));
  const referred = () => usage.ofRaw(() => transferRaw({ ...under, bucket: drive.bucket }, "get", drive.prefix));
  compared.push(await compare(runs, { ...about, reference: "one GET by the SDK" }, { measured, referred }));
  usage.report();
  return compared;
}

type Rows = Pick<Place, "where"> & { readonly runs: number };

/** The drive's control plane ends with this. */
async function measureLatency(stored: StoredDrive, proxy: RequestProxy, { where, runs }: Rows): Promise<Compared[]> {
  await using drive = stored;
  printCounts("to store and import it", proxy.takeCounts());
  const compared: Compared[] = [];
  for (const [name, selection] of Object.entries(selections)) {
    const firstBytesMs: number[] = [];
    const exportOver = async (delayMs: number): Promise<number> => {
      const link = await linkTo(drive, selection);
      proxy.setDelay(delayMs);
      proxy.takeCounts();
      const { seconds, firstByteMs } = await download(link);
      if (delayMs > 0) firstBytesMs.push(firstByteMs);
      return seconds;
    };
    const what = `${where}: ${name}, ${LATENCY_MS} ms a request`;
    const about = { name: what, reference: "without", target: { most: 2 } };
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

async function linkTo({ cloud, recordingId }: StoredDrive, selection: Selection): Promise<string> {
  return (await cloud.admin.call(api.exports.create, { ...selection, recordingId, compressionFormat: "zstd" })).link;
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
