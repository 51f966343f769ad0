import { mkdir, open, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { TestCloud } from "@downlink/cloud/testing";
import { api } from "@downlink/protocol";
import { writeMcapFile } from "@downlink/recordings/testing";
import { request } from "undici";
import type { TcpProxy } from "../../processes/tcp-proxy.ts";
import type { AgentUnderTest } from "./agent-under-test.ts";
import { figuresOf, resetPeak } from "./process-figures.ts";

const POLL_MS = 20;
const MESSAGE_BYTES = 1_000_000;

export interface UploadFigures {
  readonly sizeMB: number;
  readonly seconds: number;
  readonly rawSeconds: number;
  readonly cpuSecondsPerGB: number;
  readonly peakMB: number;
}

interface Way {
  readonly cloud: TestCloud;
  /** What agents and senders go through. */
  readonly link: TcpProxy;
  /** Of the link; Infinity: as fast as both ends are. */
  readonly bytesPerSecond: number;
}

/** An upload by the agent, hashing on, and a plain PUT of the same file to the same control plane, over the same link. */
export async function measureUpload(agent: AgentUnderTest, way: Way, sizeMB: number): Promise<UploadFigures> {
  await mkdir(agent.root, { recursive: true });
  const path = join(agent.root, "large.mcap");
  const topics = [{ topic: "/blob", kind: "blob" as const, rateHz: 10, sizeBytes: MESSAGE_BYTES }];
  await writeMcapFile(path, { topics, durationSeconds: sizeMB / 10, compression: "" });
  const { size } = await stat(path);
  way.link.throttle(way.bytesPerSecond);
  const rawSeconds = await putRaw(way, path, size);
  const sent = await sendByAgent(agent, way, size);
  return { sizeMB: size / 1e6, rawSeconds, ...sent };
}

async function sendByAgent(agent: AgentUnderTest, { cloud }: Way, size: number) {
  await using program = agent.start();
  await agent.until(({ files }) => files.reported === 1);
  const [{ id } = { id: "" }] = await cloud.admin.call(api.recordings.list, { deviceId: agent.deviceId });
  await resetPeak(program.pid);
  const before = await figuresOf(program.pid);
  const startedMs = performance.now();
  await cloud.admin.call(api.recordings.requestImport, { keyOrId: id });
  while ((await cloud.admin.call(api.recordings.get, { keyOrId: id })).importStatus === "pending") await delay(POLL_MS);
  const seconds = (performance.now() - startedMs) / 1000;
  const after = await figuresOf(program.pid);
  const cpuSecondsPerGB = (after.cpuSeconds - before.cpuSeconds) / (size / 1e9);
  return { seconds, cpuSecondsPerGB, peakMB: after.peakRssMB };
}

/** As one stream through an upload link. */
async function putRaw({ cloud }: Way, path: string, size: number): Promise<number> {
  const body = { filename: "raw.mcap", deviceName: "raw", key: `raw of ${size}` };
  const { link } = await cloud.admin.call(api.uploads.create, body);
  await using file = await open(path);
  const startedMs = performance.now();
  const headers = { "content-type": "application/octet-stream", "content-length": String(size) };
  const stream = file.createReadStream({ highWaterMark: 256 * 1024, autoClose: false });
  const answer = await request(link, { method: "PUT", headers, body: stream, headersTimeout: 0, bodyTimeout: 0 });
  if (answer.statusCode !== 200) throw new Error(`the upload was refused: ${await answer.body.text()}`);
  await answer.body.dump();
  return (performance.now() - startedMs) / 1000;
}
