import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { api } from "@downlink/protocol";
import { writeMcapFile } from "@downlink/recordings/testing";
import type { ControlPlane } from "../../processes/control-plane.ts";
import { startProgram } from "../../processes/program.ts";
import type { AgentUnderTest } from "./agent-under-test.ts";
import { figuresOf, resetPeak } from "./process-figures.ts";

const POLL_MS = 20;
const MESSAGE_BYTES = 1_000_000;
const underWay: ReadonlySet<string> = new Set(["pending", "importing"]);

export interface UploadFigures {
  readonly sizeMB: number;
  /** From the request until the bytes are stored, every part verified. */
  readonly seconds: number;
  /** From then on until their hash is taken once more and the recording is imported. */
  readonly importSeconds: number;
  readonly rawSeconds: number;
  readonly cpuSecondsPerGB: number;
  readonly cloudCpuSecondsPerGB: number;
  readonly peakMB: number;
}

interface Way {
  readonly cloud: ControlPlane;
  /** The command that puts a sender at the other end of the link; nothing: it is at this one. */
  readonly within: readonly string[] | undefined;
}

/** An upload by the agent, hashing on, and a plain PUT of the same file to the same control plane, over the same link. */
export async function measureUpload(agent: AgentUnderTest, way: Way, sizeMB: number): Promise<UploadFigures> {
  await mkdir(agent.root, { recursive: true });
  const path = join(agent.root, "large.mcap");
  const topics = [{ topic: "/blob", kind: "blob" as const, rateHz: 10, sizeBytes: MESSAGE_BYTES }];
  await writeMcapFile(path, { topics, durationSeconds: sizeMB / 10, compression: "" });
  const { size } = await stat(path);
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
  const cloudBefore = await figuresOf(cloud.program.pid);
  const startedMs = performance.now();
  await cloud.admin.call(api.recordings.requestImport, { keyOrId: id });
  const ofDevice = { deviceId: agent.deviceId, showCompleted: true };
  while ((await cloud.admin.call(api.pendingImports.list, ofDevice)).length === 0) await delay(POLL_MS);
  const storedMs = performance.now();
  while (underWay.has((await cloud.admin.call(api.recordings.get, { keyOrId: id })).importStatus)) await delay(POLL_MS);
  const after = await figuresOf(program.pid);
  const cloudAfter = await figuresOf(cloud.program.pid);
  return {
    seconds: (storedMs - startedMs) / 1000,
    importSeconds: (performance.now() - storedMs) / 1000,
    cpuSecondsPerGB: (after.cpuSeconds - before.cpuSeconds) / (size / 1e9),
    cloudCpuSecondsPerGB: (cloudAfter.cpuSeconds - cloudBefore.cpuSeconds) / (size / 1e9),
    peakMB: after.peakRssMB,
  };
}

/** As one stream through an upload link. Seconds. */
async function putRaw({ cloud, within }: Way, path: string, size: number): Promise<number> {
  const body = { filename: "raw.mcap", deviceName: "raw", key: `raw of ${size}` };
  const { link } = await cloud.admin.call(api.uploads.create, body);
  const script = "e2e/src/bench/agent/put-raw.ts";
  await using program = startProgram({ script, args: [link, path], env: {}, within });
  return Number(await program.line(/^\d+\.\d+$/));
}
