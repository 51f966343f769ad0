import { fileURLToPath } from "node:url";
import type { Program } from "../../processes/program.ts";
import { figuresOf } from "../agent/process-figures.ts";

/** For a control plane that is asked by {@link readMemory}. */
export const tellingMemory: readonly string[] = [
  "--expose-gc",
  "--import",
  fileURLToPath(new URL("report-memory.ts", import.meta.url)),
];

/** Megabytes. */
export interface MemoryParts {
  readonly rss: number;
  /** What V8 has taken for its heap. */
  readonly heap: number;
  /** What of it something still refers to. */
  readonly live: number;
  /** Buffers and the like, which objects of the heap own. */
  readonly external: number;
}

/** The `time`th time that this process is asked. It collects garbage after RSS was read. */
export async function readMemory(program: Program, time: number): Promise<MemoryParts> {
  const { rssMB: rss } = await figuresOf(program.pid);
  process.kill(program.pid, "SIGUSR2");
  const line = await program.line(new RegExp(`^memory ${time}:`));
  const { heapTotal, live, external } = JSON.parse(line.slice(line.indexOf("{"))) as Record<string, number>;
  return { rss, heap: heapTotal! / 1e6, live: live! / 1e6, external: external! / 1e6 };
}
