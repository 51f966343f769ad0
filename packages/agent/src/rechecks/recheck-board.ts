import type { Suspect } from "../files/plan-scan.ts";
import type { FileState } from "../inventory/file-state.ts";
import { type FileIdentity, isSameIdentity } from "../inventory/identity.ts";
import type { Clock } from "../system/clock.ts";

/** A file whose content is to be compared with that of the version that it may still be. */
export interface Recheck {
  readonly versionId: string;
  readonly path: string;
  /** The identity of the version in the inventory. */
  readonly was: FileIdentity;
  /** The identity of what is at the path. */
  readonly identity: FileIdentity;
  readonly by: RecheckMethod;
  /** The file changed for so long that no comparison can end. */
  readonly isRestless: boolean;
}

/**
 * With `hash` all bytes are compared by their known SHA-256. With `ends` only head, tail and summary are compared, because the
 * cloud stores nothing of the file. With `nothing` no comparison is possible: the file was delivered, and its hash is not known.
 */
export type RecheckMethod = "hash" | "ends" | "nothing";

export function recheckMethod(state: FileState, contentHash: string | undefined): RecheckMethod {
  if (contentHash !== undefined) return "hash";
  return statesInCloud.has(state) ? "nothing" : "ends";
}

const statesInCloud: ReadonlySet<FileState> = new Set(["stored", "imported", "duplicate"]);

/**
 * The files to read again, because a scan found them with another time or inode: after a `chown -R`, a copy on a new card or new inode
 * numbers at a mount they are no new recordings. They are in memory only, because the next scan finds them again. Until they are decided,
 * nothing of them is sent or deleted.
 */
export interface RecheckBoard {
  has(versionId: string): boolean;
  /** Takes all suspects of a scan. */
  sync(suspects: readonly Suspect[]): void;
  /** The files that stood still long enough to be read, in the order in which they were found. */
  due(isWholeRead: boolean): Recheck[];
  /** Milliseconds until the next file is due; undefined where there is none. */
  nextDueMs(isWholeRead: boolean): number | undefined;
  /** The file is decided, or was found in another state meanwhile. */
  forget(versionId: string): void;
  /** The file could not be read and is due later, after a pause that grows. Returns how often that happened. */
  postpone(versionId: string): number;
}

export interface RecheckBoardContext {
  readonly clock: Clock;
  readonly contentHash: (versionId: string) => string | undefined;
  /** How long a file has to stand still before it is read. */
  readonly settleTimeMs: number;
  /** A file that still changes after this time is another version. */
  readonly restlessAfterMs: number;
}

interface Entry extends Recheck {
  readonly sinceMs: number;
  readonly dueMs: number;
  readonly failures: number;
}

const LONGEST_PAUSE_MS = 300_000;

export function createRecheckBoard(ctx: RecheckBoardContext): RecheckBoard {
  const { clock, settleTimeMs } = ctx;
  const entries = new Map<string, Entry>();
  const entriesFor = (isWholeRead: boolean) => entries.values().filter(({ by }) => (by === "hash") === isWholeRead);
  return {
    has: (versionId) => entries.has(versionId),
    sync(suspects) {
      const next = suspects.map((suspect) => enter(ctx, suspect, entries.get(suspect.file.versionId)));
      entries.clear();
      for (const entry of next) entries.set(entry.versionId, entry);
    },
    due: (isWholeRead) =>
      entriesFor(isWholeRead)
        .filter(({ dueMs }) => dueMs <= clock.monotonicMs())
        .toArray(),
    nextDueMs(isWholeRead) {
      const soonestMs = entriesFor(isWholeRead).reduce((least, { dueMs }) => Math.min(least, dueMs), NEVER_MS);
      return soonestMs === NEVER_MS ? undefined : Math.max(1, soonestMs - clock.monotonicMs());
    },
    forget: (versionId) => void entries.delete(versionId),
    postpone(versionId) {
      const entry = entries.get(versionId);
      if (!entry) return 0;
      const failures = entry.failures + 1;
      const pauseMs = Math.min(LONGEST_PAUSE_MS, settleTimeMs * 2 ** failures);
      entries.set(versionId, { ...entry, failures, dueMs: clock.monotonicMs() + pauseMs });
      return failures;
    },
  };
}

const NEVER_MS = Number.POSITIVE_INFINITY;

/** Whenever the file changes, it has to stand still again. */
function enter(ctx: RecheckBoardContext, { file, identity }: Suspect, known: Entry | undefined): Entry {
  const { versionId, path, identity: was } = file;
  const isOfThis = known !== undefined && known.was === was && known.path === path;
  if (isOfThis && isSameIdentity(known.identity, identity)) return known;
  const nowMs = ctx.clock.monotonicMs();
  const sinceMs = isOfThis ? known.sinceMs : nowMs;
  const isRestless = nowMs - sinceMs > ctx.restlessAfterMs;
  const dueMs = isRestless ? nowMs : nowMs + ctx.settleTimeMs;
  const by = recheckMethod(file.state, ctx.contentHash(versionId));
  return { versionId, path, was, identity, by, isRestless, sinceMs, dueMs, failures: 0 };
}
