import type { ProblemBoard } from "../diagnostics/problems.ts";
import { UNKNOWN_CARDS } from "../state/card-facts.ts";
import type { StateFacts } from "../state/state-facts.ts";
import type { Clock } from "../system/clock.ts";
import { correctedNs, type Instant, noteInstant } from "../system/instant.ts";
import { describeSystemError, isFileSystemError } from "../system/system-error.ts";
import { isCardMarker, isCardOf, ownerTag } from "./card-marker.ts";
import { isMountPoint } from "./mount-point.ts";
import type { Storage } from "./open-tracked.ts";
import { ensureMarker, findMountedRoot, readMarker, whyUnreadable } from "./root-marker.ts";

export interface LastScan {
  /** The end of the scan by the clock as it is set at the time of the call. */
  readonly endedNs: bigint;
  readonly tookMs: number;
}

/** The enrolled root as it was found last. */
export interface StorageRoot {
  readonly path: string;
  /** Looks for it now. */
  find(): Promise<Storage | undefined>;
  /** The root as of the last look. */
  current(): Storage | undefined;
  noteScan(tookMs: number): void;
  lastScan(): LastScan | undefined;
  /** When the root was looked for last; monotonic milliseconds. */
  lastLookMs(): number;
  /** The number of scans since the start. */
  scans(): number;
}

/**
 * The root is there when its marker holds the id that the state knows. A state that knows none yet takes the id of the root, or
 * writes a marker: from then on an empty mount point cannot pass for an empty root.
 */
export function openStorageRoot(
  path: string,
  ctx: { facts: StateFacts; problems: ProblemBoard; clock: Clock; adoptsCards: () => boolean },
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
      if (current) ctx.problems.clear("StorageMissing", "StorageUnusable");
      else if (markerId !== undefined) await showMissing(path, ctx);
      lastLookMs = ctx.clock.monotonicMs();
      return current;
    },
    current: () => current,
    noteScan(tookMs) {
      lastScan = { ended: noteInstant(ctx.clock), tookMs };
      scans += 1;
    },
    lastScan: () => lastScan && { endedNs: correctedNs(lastScan.ended, ctx.clock), tookMs: lastScan.tookMs },
    lastLookMs: () => lastLookMs,
    scans: () => scans,
  };
}

interface AdoptionContext {
  readonly facts: StateFacts;
  readonly problems: ProblemBoard;
  readonly adoptsCards: () => boolean;
}

/** Binds the state to the root that is there; undefined where that is not possible now. */
async function adoptRoot(path: string, ctx: AdoptionContext): Promise<string | undefined> {
  const { facts } = ctx;
  const rootMarkerId = await markRoot(path, ctx);
  if (rootMarkerId === undefined) return undefined;
  // This is written into the state, not into the root: a failure is the state's problem, and the caller's.
  facts.bind({ rootMarkerId });
  // Cards were swapped before this state began: there may be others, with unknown files.
  if (isCardMarker(rootMarkerId)) facts.noteCards([rootMarkerId, UNKNOWN_CARDS]);
  return rootMarkerId;
}

/** Returns the id in the root's marker, which is written if there is none; undefined where that is not possible now. */
async function markRoot(path: string, ctx: AdoptionContext): Promise<string | undefined> {
  const { problems } = ctx;
  try {
    const refusal = await whyNotAdopted(path, ctx);
    if (refusal === undefined) return await ensureMarker(path);
    raiseOne(problems, "StorageMissing", refusal);
    return undefined;
  } catch (error) {
    if (!isFileSystemError(error)) throw error;
    const isThere = error.code !== "ENOENT" && error.code !== "ENOTDIR";
    const why = isThere ? `the marker cannot be written into ${path}` : path;
    raiseOne(problems, isThere ? "StorageUnusable" : "StorageMissing", `${why}: ${describeSystemError(error)}`);
    return undefined;
  }
}

/** An empty mount point and another owner's card must not become this state's root. */
async function whyNotAdopted(path: string, { facts, adoptsCards }: AdoptionContext): Promise<string | undefined> {
  const found = await readMarker(path);
  if (found === undefined)
    return adoptsCards() && !(await isMountPoint(path))
      ? `nothing is mounted at ${path}, and it has no marker`
      : undefined;
  if (!isCardMarker(found)) return undefined;
  const tag = ownerTag(facts.owner());
  if (tag === undefined)
    return `whether the card at ${path} belongs to this device is known after the first contact with the control plane`;
  return isCardOf(found, tag) ? undefined : `the card at ${path} belongs to another device or site`;
}

/** A root that is there and may not be read is another problem than a card that was taken out. */
async function showMissing(
  path: string,
  { problems, adoptsCards }: { problems: ProblemBoard; adoptsCards: () => boolean },
): Promise<void> {
  const refusal = await whyUnreadable(path);
  if (refusal === undefined) raiseOne(problems, "StorageMissing", await describeMissing(path, adoptsCards()));
  else raiseOne(problems, "StorageUnusable", `the marker in ${path} cannot be read: ${describeSystemError(refusal)}`);
}

async function describeMissing(path: string, adoptsCards: boolean): Promise<string> {
  const there = await readMarker(path);
  if (there !== undefined) return `what is at ${path} carries the marker of another root (${there})`;
  return adoptsCards ? `no card is inserted at ${path}` : `no marker of the enrolled root in ${path}`;
}

function raiseOne(problems: ProblemBoard, code: "StorageMissing" | "StorageUnusable", detail: string): void {
  problems.clear(code === "StorageMissing" ? "StorageUnusable" : "StorageMissing");
  problems.raise(code, detail);
}
