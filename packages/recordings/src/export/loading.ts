import type { Compression } from "../codecs/compress.ts";
import { RecordingFault } from "../reasons.ts";
import type { DamageReport } from "./damage-report.ts";
import type { ChunkFacts } from "./output/mcap-writer.ts";
import type { OpenSource, PlannedRun } from "./plan/open-source.ts";
import type { OrderCheck } from "./rewrite/check-order.ts";
import type { Fragment } from "./rewrite/fragment.ts";
import type { RewriteLane } from "./rewrite/rewrite-pool.ts";
import type { MemoryShare } from "./share-memory.ts";

/** What a step brought into memory, in the order of the written file. */
export type Loaded =
  | { kind: "opened"; source: OpenSource }
  /** Chunks of the written file, one behind the other in `bytes`. */
  | { kind: "chunks"; bytes: Uint8Array; chunks: readonly ChunkFacts[] }
  /** Messages that become a chunk together with what follows. */
  | { kind: "rest"; fragment: Fragment }
  /** The first part of a run that is merged with others. */
  | { kind: "part"; run: PlannedRun; part: RunPart };

export interface RunPart {
  fragment: Fragment;
  /** Whether selected messages of the run are left. */
  hasMore: boolean;
}

/** What the steps of one export share. */
export interface Loading {
  lane: RewriteLane;
  damage: DamageReport;
  compression: Compression;
  verifyPassThrough: boolean;
  checkOrder: OrderCheck;
  memory: MemoryShare;
}

/** `undefined` when the content is damaged, which is reported for each of the runs. Other errors are thrown. */
export async function orReport<T>(
  runs: readonly PlannedRun[],
  { damage }: Loading,
  work: () => T | Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RecordingFault)) throw error;
    for (const run of runs) await damage.add(run, error.reason);
    return undefined;
  }
}
