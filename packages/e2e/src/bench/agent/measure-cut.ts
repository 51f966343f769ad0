import { mkdir, open, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { api, edgeLimits } from "@downlink/protocol";
import { writeMcapFile } from "@downlink/recordings/testing";
import { type ControlPlane, startControlPlane } from "../../processes/control-plane.ts";
import type { Program } from "../../processes/program.ts";
import { startTcpProxy, type TcpProxy } from "../../processes/tcp-proxy.ts";
import { type AgentUnderTest, makeAgent } from "./agent-under-test.ts";
import { figuresOf, ioOf, resetPeak } from "./process-figures.ts";

const SECOND = 1_000_000_000n;
const CUT_SECONDS = 40;
const BYTES_PER_SECOND = 6_040_000;
const camera = { kind: "blob", rateHz: 30, sizeBytes: 100_000 } as const;
const topics = [
  { topic: "/camera/front", ...camera },
  { topic: "/camera/rear", ...camera },
  { topic: "/imu", kind: "imu", rateHz: 200 },
] as const;
/** Calls and reports are smaller, and a piece of a part is larger. */
const LARGEST_REPORT_BYTES = edgeLimits.minPieceBytes;
const POLL_MS = 5;

export interface CutFigures {
  readonly fileMB: number;
  readonly cutMB: number;
  /** The times from the request on: until the part is in a file, is known to be a recording, and its first byte is sent; and until it is imported. */
  readonly cutSeconds: number;
  readonly indexedSeconds: number;
  readonly firstByteSeconds: number;
  readonly importedSeconds: number;
  /** The time to copy as many bytes from the middle of the same file into another one, with a sync. */
  readonly copySeconds: number;
  /** All that the agent read until the part was in a file, and how much its chunks have. */
  readonly readMB: number;
  readonly chunksMB: number;
  readonly cutRssGrowthMB: number;
  readonly rssGrowthMB: number;
  /** The CPU time of the agent until the part was in a file. */
  readonly cutCpuSeconds: number;
}

type Installed = Omit<Parameters<typeof makeAgent>[0], "cloud">;

/** Measures how soon 40 seconds of one camera and an IMU come out of a large file with two cameras, with default settings. */
export async function measureCut(installed: Installed, folder: string, gigabytes: number): Promise<CutFigures> {
  await using proxy = await startTcpProxy();
  await using cloud = await startControlPlane({ dataDir: folder, env: { DOWNLINK_PUBLIC_URL: proxy.url } });
  proxy.leadTo(cloud.url);
  await using agent = await makeAgent({ ...installed, cloud: { ...cloud, url: proxy.url } });
  await mkdir(agent.root, { recursive: true });
  const path = join(agent.root, "drive.mcap");
  const durationSeconds = Math.max(2 * CUT_SECONDS, (gigabytes * 1e9) / BYTES_PER_SECOND);
  await writeMcapFile(path, { topics, durationSeconds, compression: "" });
  await using program = agent.start({ settings: { DOWNLINK_LOG_LEVEL: "info" } });
  await agent.until(({ files }) => files.reported === 1);
  const fileMB = (await stat(path)).size / 1e6;
  const times = await timeCut({ cloud, agent, program, proxy });
  const copySeconds = await copyMiddle(path, times.cutMB * 1e6);
  return { fileMB, copySeconds, chunksMB: (CUT_SECONDS * fileMB) / durationSeconds, ...times };
}

interface Scene {
  readonly cloud: ControlPlane;
  readonly agent: AgentUnderTest;
  readonly program: Program;
  readonly proxy: TcpProxy;
}

async function timeCut({ cloud, agent: { deviceId }, program, proxy }: Scene) {
  const [whole] = await cloud.admin.call(api.recordings.list, { deviceId });
  const { id: keyOrId, start: first, end: last } = whole!;
  const start = first + (last - first) / 2n;
  const part = { topics: ["/camera/front", "/imu"], start, end: start + BigInt(CUT_SECONDS) * SECOND };
  await resetPeak(program.pid);
  const [before, ioBefore] = [await figuresOf(program.pid), await ioOf(program.pid)];
  const startedMs = performance.now();
  const seconds = () => (performance.now() - startedMs) / 1000;
  const noteCut = async () => {
    await program.line(/a part of a file was cut/);
    const cutSeconds = seconds();
    const [{ readMB }, { cpuSeconds, peakRssMB }] = await Promise.all([ioOf(program.pid), figuresOf(program.pid)]);
    const cutCpuSeconds = cpuSeconds - before.cpuSeconds;
    return { cutSeconds, cutCpuSeconds, readMB: readMB - ioBefore.readMB, cutRssGrowthMB: peakRssMB - before.rssMB };
  };
  const noteIndexed = async () => {
    await program.line(/a recording is indexed.*downlink-cuts|downlink-cuts.*a recording is indexed/);
    return seconds();
  };
  const sentBefore = proxy.sentBytes();
  const noted = [noteCut(), noteIndexed(), untilSent(proxy, sentBefore + LARGEST_REPORT_BYTES).then(seconds)] as const;
  await cloud.admin.call(api.recordings.requestImport, { keyOrId, ...part });
  const [cut, indexedSeconds, firstByteSeconds] = await Promise.all(noted);
  const cutMB = (await untilImported(cloud, keyOrId)) / 1e6;
  const importedSeconds = seconds();
  const rssGrowthMB = (await figuresOf(program.pid)).peakRssMB - before.rssMB;
  return { ...cut, indexedSeconds, firstByteSeconds, importedSeconds, cutMB, rssGrowthMB };
}

async function untilSent(proxy: TcpProxy, bytes: number): Promise<void> {
  while (proxy.sentBytes() < bytes) await delay(POLL_MS);
}

/** Returns the size of the part once it is imported. */
async function untilImported({ admin }: ControlPlane, keyOrId: string): Promise<number> {
  for (;;) {
    const [cut] = (await admin.call(api.recordings.get, { keyOrId })).cuts ?? [];
    if (cut?.importStatus === "failed") throw new Error(`the part failed: ${cut.failure?.text}`);
    if (cut?.importStatus === "complete") return cut.size!;
    await delay(10 * POLL_MS);
  }
}

async function copyMiddle(path: string, bytes: number): Promise<number> {
  const startedMs = performance.now();
  await using source = await open(path);
  await using target = await open(`${path}.copy`, "w");
  const buffer = Buffer.alloc(1024 * 1024);
  const from = Math.floor((await source.stat()).size / 2);
  for (let done = 0; done < bytes; ) {
    const { bytesRead } = await source.read(buffer, 0, Math.min(buffer.length, bytes - done), from + done);
    if (bytesRead === 0) break;
    await target.write(buffer, 0, bytesRead);
    done += bytesRead;
  }
  await target.sync();
  return (performance.now() - startedMs) / 1000;
}
