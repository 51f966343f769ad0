import type { Suspect } from "../files/plan-scan.ts";
import type { FileState } from "../inventory/file-state.ts";
import { type FileIdentity, isSameIdentity } from "../inventory/identity.ts";
import type { Clock } from "../system/clock.ts";

/** A file whose content is to be compared with that of the version that it may still be. */
export interface Recheck {
  readonly versionId: string;
  readonly path: string;
  /** Of the version, as the inventory has it. */
  readonly was: FileIdentity;
  /** Of what is at the path. */
  readonly identity: FileIdentity;
  readonly by: RecheckMethod;
  /** It went on changing for so long that no comparison can come to an end. */
  readonly isRestless: boolean;
}

/**
 * `hash`: by all its bytes, whose SHA-256 is known · `ends`: by head, tail and summary, because nothing of it is stored in the
 * cloud · `nothing`: it was delivered, and what was delivered is not known here.
 */
export type RecheckMethod = "hash" | "ends" | "nothing";

export function recheckMethod(state: FileState, contentHash: string | undefined): RecheckMethod {
  if (contentHash !== undefined) return "hash";
  return statesInCloud.has(state) ? "nothing" : "ends";
}

const statesInCloud: ReadonlySet<FileState> = new Set(["stored", "imported", "duplicate"]);

/**
 * The files that are to be read again, because a scan found them written or as another entry of the file system. In memory
 * only: what is not decided when the agent ends, the next scan finds again. Nothing is sent or deleted of them meanwhile.
 */
export interface RecheckBoard {
  has(versionId: string): boolean;
  /** Takes what a scan found: all there is. */
  sync(suspects: readonly Suspect[]): void;
  /** Those that stood still long enough to be read, in the order in which they were found. */
  due(isWholeRead: boolean): Recheck[];
  /** Milliseconds until the next one is due; undefined where none is to come. */
  nextDueMs(isWholeRead: boolean): number | undefined;
  /** It is decided, or is another case by now. */
  forget(versionId: string): void;
  /** It could not be read: later, after longer and longer pauses. Answers how often. */
  postpone(versionId: string): number;
}

export interface RecheckBoardContext {
  readonly clock: Clock;
  readonly contentHash: (versionId: string) => string | undefined;
  /** For so long a file stands still before it is read. */
  readonly settleTimeMs: number;
  /** A file that still changes after so long is another one. */
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

/** It has to stand still anew whenever it changes. */
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
