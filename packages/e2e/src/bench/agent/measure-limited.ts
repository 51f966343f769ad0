import { openMemoryCgroup, unitMemoryBytes } from "@downlink/agent/testing/memory-cgroup";
import type { AgentUnderTest } from "./agent-under-test.ts";
import { writeTree } from "./measure-files.ts";

/** Of the memory that the agent's unit allows, the part that is to stay free. */
const SPARE = 0.2;

export interface LimitedFigures {
  readonly files: number;
  readonly limitMB: number;
  readonly seconds: number;
  /** How often the kernel ended it for want of memory; the first time is the last, for nobody starts it again. */
  readonly kills: number;
}

/**
 * Whether a first indexing of so many files goes through with a fifth less memory than the unit allows. RSS does not tell that:
 * it counts pages of the program's own files too, which the kernel takes back where they are in the way. The agent's state must
 * lie on a disk: what lies in memory counts as memory.
 */
export async function measureLimited(agent: AgentUnderTest, files: number): Promise<LimitedFigures> {
  await writeTree(agent.root, files);
  using group = openMemoryCgroup(toPages(unitMemoryBytes() * (1 - SPARE)));
  const startedMs = performance.now();
  await using program = agent.start({ within: group.within });
  await Promise.race([agent.until((status) => status.files.reported === files), program.ended]);
  await program.end("SIGTERM");
  return {
    files,
    limitMB: group.limitBytes / 1e6,
    seconds: (performance.now() - startedMs) / 1000,
    kills: group.kills(),
  };
}

/** The kernel takes limits of whole pages. */
function toPages(bytes: number): number {
  return Math.floor(bytes / 4096) * 4096;
}
