import { fileURLToPath } from "node:url";
import type { Program } from "../../processes/program.ts";
import { figuresOf } from "../agent/process-figures.ts";

/** Arguments for a control plane whose memory {@link readMemory} reads. */
export const memoryReporting: readonly string[] = [
  "--expose-gc",
  "--import",
  fileURLToPath(new URL("report-memory.ts", import.meta.url)),
];

/** The memory in megabytes. */
export interface MemoryParts {
  readonly rss: number;
  /** The memory that V8 has taken for its heap. */
  readonly heap: number;
  /** The part of the heap that is still in use. */
  readonly live: number;
  /** Buffers and others that objects of the heap own. */
  readonly external: number;
}

/** Reads the memory for the `time`th time. The process collects garbage after RSS was read. */
export async function readMemory(program: Program, time: number): Promise<MemoryParts> {
  const { rssMB: rss } = await figuresOf(program.pid);
  process.kill(program.pid, "SIGUSR2");
  const line = await program.line(new RegExp(`^memory ${time}:`));
  const { heapTotal, live, external } = JSON.parse(line.slice(line.indexOf("{"))) as Record<string, number>;
  return { rss, heap: heapTotal! / 1e6, live: live! / 1e6, external: external! / 1e6 };
}
