import { execFile } from "node:child_process";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { api } from "@downlink/protocol";
import { makeMcap } from "@downlink/recordings/testing";
import type { ControlPlane } from "../../processes/control-plane.ts";
import type { AgentUnderTest } from "./agent-under-test.ts";
import { figuresOf, ioOf, resetPeak } from "./process-figures.ts";

const PER_DIRECTORY = 1000;
const IDLE_MS = 40_000;
const APPEARANCES = 5;
const POLL_MS = 20;

export interface FilesFigures {
  readonly files: number;
  readonly firstSeconds: number;
  readonly firstCpuSeconds: number;
  /** The highest value until everything was reported the first time. */
  readonly peakMB: number;
  readonly idleAfterFirstMB: number;
  /** The value from the second start on. */
  readonly idleMB: number;
  readonly idleCpuPercent: number;
  readonly rescanMs: number;
  readonly peakRescanningMB: number;
  /** The highest value from the second start until the first scan is over. */
  readonly peakStartingMB: number;
  readonly watches: number;
  readonly touched: TouchedFigures;
  /** The median time from closing a file until the cloud lists it. */
  readonly visibleSeconds: number;
}

/** The cost of noticing that every file has another mode, and nothing else. */
export interface TouchedFigures {
  /** The time of the scan that finds it, with what it records. */
  readonly scanMs: number;
  /** The CPU time above that of an equally long time without it. */
  readonly cpuSeconds: number;
  /** All that the agent read meanwhile, and what it wrote. */
  readonly readMB: number;
  readonly writtenMB: number;
  readonly peakMB: number;
}

/** Measures an agent with so many small recordings. */
export async function measureFiles(agent: AgentUnderTest, cloud: ControlPlane, files: number): Promise<FilesFigures> {
  await writeTree(agent.root, files);
  const startedMs = performance.now();
  const isAllReported = (status: { files: Readonly<Record<string, number>> }) => status.files.reported === files;
  const first = agent.start();
  await agent.until(isAllReported);
  const firstSeconds = (performance.now() - startedMs) / 1000;
  const atFirst = await figuresOf(first.pid);
  await delay(IDLE_MS);
  const idleAfterFirst = await figuresOf(first.pid);
  await first.end("SIGTERM");

  await using second = agent.start();
  const { storage } = await agent.until((status) => isAllReported(status) && status.storage.lastScanMs !== null);
  await delay(IDLE_MS / 4);
  const started = await figuresOf(second.pid);
  await resetPeak(second.pid);
  const before = await figuresOf(second.pid);
  await delay(IDLE_MS);
  const after = await figuresOf(second.pid);
  const rescanned = await agent.until((status) => status.storage.lastScanAt !== storage.lastScanAt);
  return {
    files,
    firstSeconds,
    firstCpuSeconds: atFirst.cpuSeconds,
    peakMB: atFirst.peakRssMB,
    idleAfterFirstMB: idleAfterFirst.rssMB,
    idleMB: after.rssMB,
    idleCpuPercent: ((after.cpuSeconds - before.cpuSeconds) / (IDLE_MS / 1000)) * 100,
    rescanMs: rescanned.storage.lastScanMs ?? Number.NaN,
    peakRescanningMB: after.peakRssMB,
    peakStartingMB: started.peakRssMB,
    watches: after.inotifyWatches,
    touched: await measureTouched(agent, second.pid, after.cpuSeconds - before.cpuSeconds),
    visibleSeconds: await measureAppearance(agent, cloud),
  };
}

/** Changes the files as a nightly `chown -R` does. */
async function measureTouched(agent: AgentUnderTest, pid: number, idleCpuSeconds: number): Promise<TouchedFigures> {
  await resetPeak(pid);
  const [before, io] = [await figuresOf(pid), await ioOf(pid)];
  await promisify(execFile)("chmod", ["-R", "u+x", agent.root]);
  const endMs = performance.now() + IDLE_MS;
  let scanMs = 0;
  while (performance.now() < endMs) {
    scanMs = Math.max(scanMs, (await agent.status())?.storage.lastScanMs ?? 0);
    await delay(1000);
  }
  const [after, ioAfter] = [await figuresOf(pid), await ioOf(pid)];
  return {
    scanMs,
    cpuSeconds: after.cpuSeconds - before.cpuSeconds - idleCpuSeconds,
    readMB: ioAfter.readMB - io.readMB,
    writtenMB: ioAfter.writtenMB - io.writtenMB,
    peakMB: after.peakRssMB,
  };
}

export async function writeTree(root: string, files: number): Promise<void> {
  const bytes = await makeMcap({ durationSeconds: 0.1 });
  for (let number = 0; number < files; number += 1) {
    const directory = join(root, `day-${Math.floor(number / PER_DIRECTORY)}`);
    if (number % PER_DIRECTORY === 0) await mkdir(directory, { recursive: true });
    await writeFile(join(directory, `recording-2026-01-02-03-04-${number}.mcap`), bytes);
  }
}

async function measureAppearance({ root, deviceId }: AgentUnderTest, { admin }: ControlPlane): Promise<number> {
  const bytes = await makeMcap({ durationSeconds: 1 });
  const times: number[] = [];
  for (let number = 0; number < APPEARANCES; number += 1) {
    const path = `new-${number}.mcap`;
    await writeFile(join(root, `${path}.partial`), bytes);
    await rename(join(root, `${path}.partial`), join(root, path));
    const closedMs = performance.now();
    while ((await admin.call(api.recordings.list, { deviceId, path })).length === 0) await delay(POLL_MS);
    times.push((performance.now() - closedMs) / 1000);
  }
  return times.sort((a, b) => a - b)[APPEARANCES >> 1]!;
}
