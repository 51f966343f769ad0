import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ApiCallError } from "@downlink/client";
import { api } from "@downlink/protocol";
import { writeMcapFile } from "@downlink/recordings/testing";
import type { ControlPlane } from "../../processes/control-plane.ts";
import { startProgram } from "../../processes/program.ts";
import type { AgentUnderTest } from "./agent-under-test.ts";
import { figuresOf, type ProcessFigures, resetPeak } from "./process-figures.ts";

/** The polls are so rare that they take hardly any CPU time. */
const POLL_MS = 200;
const PATIENCE_MS = 600_000;
const MESSAGE_BYTES = 1_000_000;
const underWay: ReadonlySet<string> = new Set(["pending", "importing"]);

export interface UploadFigures {
  readonly sizeMB: number;
  /** The time from the request until the bytes are stored, with every part verified. */
  readonly seconds: number;
  /** The time from then on until they were hashed once more and the recording is imported. */
  readonly importSeconds: number;
  readonly rawSeconds: number;
  /** The agent's CPU time for 1 GB, as are the others. */
  readonly agentCpu: CpuSeconds;
  /** The control plane's CPU time while it receives the agent's parts, the plain PUT, and while it imports the former. */
  readonly receivingCpu: CpuSeconds;
  readonly rawReceivingCpu: CpuSeconds;
  readonly importingCpu: CpuSeconds;
  readonly peakMB: number;
}

export interface CpuSeconds {
  readonly total: number;
  /** The kernel's share of them. */
  readonly system: number;
}

interface Way {
  readonly cloud: ControlPlane;
  /** The command that runs a sender at the other end of the link; undefined: at this end. */
  readonly within: readonly string[] | undefined;
}

interface LargeFile {
  /** The device of the plain PUT, which has no such content yet. */
  readonly device: string;
  readonly path: string;
  readonly size: number;
}

/** Measures an upload by the agent, with hashing, and a plain PUT of the same file to the same control plane over the same link. */
export async function measureUpload(agent: AgentUnderTest, way: Way, sizeMB: number): Promise<UploadFigures> {
  await mkdir(agent.root, { recursive: true });
  const path = join(agent.root, "large.mcap");
  const topics = [{ topic: "/blob", kind: "blob" as const, rateHz: 10, sizeBytes: MESSAGE_BYTES }];
  await writeMcapFile(path, { topics, durationSeconds: sizeMB / 10, compression: "" });
  const { size } = await stat(path);
  const raw = await putRaw(way, { path, size, device: `raw-${agent.deviceId}` });
  return { sizeMB: size / 1e6, ...raw, ...(await sendByAgent(agent, way, size)) };
}

async function sendByAgent(agent: AgentUnderTest, { cloud }: Way, size: number) {
  await using program = agent.start({ settings: { DOWNLINK_LOG_LEVEL: "info" } }); // at this level it logs when it has uploaded the file
  await agent.until(({ files }) => files.reported === 1);
  const [{ id } = { id: "" }] = await cloud.admin.call(api.recordings.list, { deviceId: agent.deviceId });
  await resetPeak(program.pid);
  const before = await figuresOf(program.pid);
  const cloudBefore = await figuresOf(cloud.program.pid);
  const startedMs = performance.now();
  await cloud.admin.call(api.recordings.requestImport, { keyOrId: id });
  await program.line(/"uploaded"/);
  const storedMs = performance.now();
  const [after, cloudStored] = await Promise.all([figuresOf(program.pid), figuresOf(cloud.program.pid)]);
  await untilImported(cloud, id);
  const importSeconds = (performance.now() - storedMs) / 1000;
  const cloudImported = await figuresOf(cloud.program.pid);
  return {
    seconds: (storedMs - startedMs) / 1000,
    importSeconds,
    agentCpu: perGB(size, before, after),
    receivingCpu: perGB(size, cloudBefore, cloudStored),
    importingCpu: perGB(size, cloudStored, cloudImported),
    peakMB: after.peakRssMB,
  };
}

/** Sends one stream through an upload link; ends once the file is imported, so that nothing else is measured meanwhile. */
async function putRaw({ cloud, within }: Way, { path, size, device }: LargeFile) {
  const body = { filename: "raw.mcap", deviceName: device, key: device };
  const { link } = await cloud.admin.call(api.uploads.create, body);
  const before = await figuresOf(cloud.program.pid);
  const script = "e2e/src/bench/agent/put-raw.ts";
  await using program = startProgram({ script, args: [link, path], env: {}, within });
  const rawSeconds = Number(await program.line(/^\d+\.\d+$/));
  const after = await figuresOf(cloud.program.pid);
  await untilImported(cloud, device);
  return { rawSeconds, rawReceivingCpu: perGB(size, before, after) };
}

async function untilImported(cloud: ControlPlane, keyOrId: string): Promise<void> {
  for (const endMs = performance.now() + PATIENCE_MS; performance.now() < endMs; ) {
    const recording = await cloud.admin.call(api.recordings.get, { keyOrId }).catch(orNone);
    if (recording && !underWay.has(recording.importStatus)) return;
    await delay(POLL_MS);
  }
  throw new Error(`${keyOrId} was not imported`);
}

/** An uploaded recording exists from its import on. */
function orNone(error: unknown): undefined {
  if (error instanceof ApiCallError && error.code === "NotFound") return undefined;
  throw error;
}

function perGB(size: number, before: ProcessFigures, after: ProcessFigures): CpuSeconds {
  const gigabytes = size / 1e9;
  return {
    total: (after.cpuSeconds - before.cpuSeconds) / gigabytes,
    system: (after.systemCpuSeconds - before.systemCpuSeconds) / gigabytes,
  };
}
