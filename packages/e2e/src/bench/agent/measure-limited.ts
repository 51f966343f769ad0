import { openMemoryCgroup, unitMemoryBytes } from "@downlink/agent/testing/memory-cgroup";
import type { AgentUnderTest } from "./agent-under-test.ts";
import { writeTree } from "./measure-files.ts";

/** The share of the unit's memory that should stay free. */
const SPARE = 0.2;

export interface LimitedFigures {
  readonly files: number;
  readonly limitMB: number;
  readonly seconds: number;
  /** How often the kernel killed it for its memory; it is not started again, so this is 1 at most. */
  readonly kills: number;
}

/**
 * Checks whether a first indexing of so many files succeeds with a fifth less memory than the unit allows. RSS does not show that: it
 * includes pages of the program's own files, which the kernel takes back when it needs them. The agent's state must be on a disk, because a
 * state in memory counts as memory.
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

/** The kernel accepts limits of whole pages. */
function toPages(bytes: number): number {
  return Math.floor(bytes / 4096) * 4096;
}
