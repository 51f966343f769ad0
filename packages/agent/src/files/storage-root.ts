import type { Clock } from "../clock.ts";
import { isFileSystemError } from "../indexing/examine-file.ts";
import { type Instant, noteInstant, tellInstant } from "../instant.ts";
import type { StateFacts } from "../inventory/owner.ts";
import type { ProblemBoard } from "../problems.ts";
import type { Storage } from "./open-tracked.ts";
import { ensureMarker, findMountedRoot } from "./root-marker.ts";

export interface LastScan {
  /** By the clock as it is set when it is asked for. */
  readonly endedNs: bigint;
  readonly tookMs: number;
}

/** The enrolled root as it was found last. */
export interface StorageRoot {
  readonly path: string;
  /** Looks for it now. */
  find(): Promise<Storage | undefined>;
  /** As of the last look. */
  current(): Storage | undefined;
  /** One has ended just now. */
  noteScan(tookMs: number): void;
  lastScan(): LastScan | undefined;
  /** When it was looked for last, and in between scanned; monotonic milliseconds. */
  lastLookMs(): number;
  /** Scans since the start. */
  scans(): number;
}

/**
 * A root is there when its marker holds the id that the state knows. State that knows none yet takes the root's, or
 * writes one: from then on an empty mount point cannot pass for an empty root.
 */
export function openStorageRoot(
  path: string,
  ctx: { facts: StateFacts; problems: ProblemBoard; clock: Clock },
): StorageRoot {
  let current: Storage | undefined;
  let lastScan: { readonly ended: Instant; readonly tookMs: number } | undefined;
  let scans = 0;
  let lastLookMs = ctx.clock.monotonicMs();
  return {
    path,
    async find() {
      const markerId = ctx.facts.owner().rootMarkerId ?? (await adoptRoot(path, ctx));
      const mounted = markerId === undefined ? undefined : await findMountedRoot(path, markerId);
      current = mounted && { root: path, device: mounted.device };
      if (current) ctx.problems.clear("StorageMissing");
      else if (markerId !== undefined)
        ctx.problems.raise("StorageMissing", `no marker of the enrolled root in ${path}`);
      lastLookMs = ctx.clock.monotonicMs();
      return current;
    },
    current: () => current,
    noteScan(tookMs) {
      lastScan = { ended: noteInstant(ctx.clock), tookMs };
      scans += 1;
    },
    lastScan: () => lastScan && { endedNs: tellInstant(lastScan.ended, ctx.clock), tookMs: lastScan.tookMs },
    lastLookMs: () => lastLookMs,
    scans: () => scans,
  };
}

async function adoptRoot(
  path: string,
  { facts, problems }: { facts: StateFacts; problems: ProblemBoard },
): Promise<string | undefined> {
  try {
    const rootMarkerId = await ensureMarker(path);
    facts.bind({ rootMarkerId });
    return rootMarkerId;
  } catch (error) {
    if (!isFileSystemError(error)) throw error;
    problems.raise("StorageMissing", `cannot write the marker into ${path}: ${error.message}`);
    return undefined;
  }
}
