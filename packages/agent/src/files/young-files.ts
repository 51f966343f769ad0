import { isBeforeIndexing } from "../inventory/file-state.ts";
import { type FileIdentity, isSameIdentity } from "../inventory/identity.ts";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import { isMadePath } from "./made-path.ts";

export interface YoungTimes {
  readonly settleTimeMs: number;
  readonly incompleteAfterMs: number;
  /** The longest time between two looks at a file that does not change. */
  readonly longestPauseMs: number;
}

interface Young {
  readonly identity: FileIdentity;
  /** All files that one scan found new share one object: at the first start these may be 100,000. */
  readonly rest: Rest;
  /** The last sync that found the file. It is a mark, because a list of all files would take megabytes. */
  round: number;
}

interface Rest {
  readonly unchangedSinceMs: number;
  readonly pauseMs: number;
  readonly dueMs: number;
  /** A quick look was not enough. */
  readonly needsTime: boolean;
}

/**
 * When to look at each file that was not examined to its end. It is in memory only: after a restart a file has to stand still
 * again. All times are monotonic milliseconds.
 */
export interface YoungFiles {
  readonly size: number;
  /**
   * Takes in files that are new or have changed, and drops those that are not young any more. A new file that the agent made is due at once,
   * because it was renamed into its place when it was finished.
   */
  sync(files: Iterable<TrackedFile>, nowMs: number): void;
  /** The files that are due for a quick look, longest due first; where there are very many, only some of them. */
  takeDue(nowMs: number): string[];
  /** When the next quick look is due. */
  nextDueMs(): number | undefined;
  /** The file needs a long look. */
  putOff(versionId: string): void;
  /** The files that are due for a long look, longest due first. */
  takePutOff(nowMs: number): string[];
  /** When the next long look is due. */
  nextPutOffMs(): number | undefined;
  /** Whether the file stood still long enough to be examined, or so long that no end can be expected. */
  restOf(versionId: string, nowMs: number): "moving" | "settled" | "overdue";
  /** The file was found changed and has to stand still again. */
  restart(versionId: string, identity: FileIdentity, nowMs: number): void;
  /** The file is not young any more. */
  forget(versionId: string): void;
  /** Makes the file due now. Returns whether it is young. */
  hurry(versionId: string, nowMs: number): boolean;
  /** The look had no result: the next one follows after a pause, which grows each time. */
  postpone(versionId: string, nowMs: number): void;
}

export function createYoungFiles(times: YoungTimes): YoungFiles {
  const { settleTimeMs, incompleteAfterMs } = times;
  const young = new Map<string, Young>();
  let round = 0;
  const setRest = (versionId: string, next: (rest: Rest) => Rest): boolean => {
    const known = young.get(versionId);
    if (known) young.set(versionId, { ...known, rest: next(known.rest) });
    return known !== undefined;
  };
  return {
    ...askWhatIsDue(young),
    get size() {
      return young.size;
    },
    sync(files, nowMs) {
      const restOf = beginRests(settleTimeMs, nowMs);
      round += 1;
      for (const { versionId, path, identity, state } of files) {
        if (!isBeforeIndexing(state)) continue;
        const known = young.get(versionId);
        if (known && isSameIdentity(known.identity, identity)) known.round = round;
        else young.set(versionId, { identity, rest: restOf(path, known), round });
      }
      for (const [versionId, known] of young) if (known.round !== round) young.delete(versionId);
    },
    restOf(versionId, nowMs) {
      const restMs = nowMs - (young.get(versionId)?.rest.unchangedSinceMs ?? nowMs);
      if (restMs >= incompleteAfterMs) return "overdue";
      return restMs >= settleTimeMs ? "settled" : "moving";
    },
    restart(versionId, identity, nowMs) {
      young.set(versionId, { identity, rest: beginRest(settleTimeMs, nowMs), round });
    },
    forget: (versionId) => void young.delete(versionId),
    putOff: (versionId) => void setRest(versionId, (rest) => ({ ...rest, needsTime: true })),
    hurry: (versionId, nowMs) => setRest(versionId, (rest) => ({ ...rest, dueMs: nowMs })),
    postpone: (versionId, nowMs) => void setRest(versionId, (rest) => postponed(rest, times, nowMs)),
  };
}

/** Quick looks and long looks are asked for apart: `needsTime` tells for which of them a file is due. */
function askWhatIsDue(young: ReadonlyMap<string, Young>) {
  const take = (nowMs: number, needsTime: boolean): string[] =>
    young
      .entries()
      .filter(([, { rest }]) => rest.needsTime === needsTime && rest.dueMs <= nowMs)
      .take(MOST_TAKEN)
      .toArray()
      .sort(([, a], [, b]) => a.rest.dueMs - b.rest.dueMs)
      .map(([versionId]) => versionId);
  const nextMs = (needsTime: boolean): number | undefined =>
    earliest(
      young
        .values()
        .filter(({ rest }) => rest.needsTime === needsTime)
        .map(({ rest }) => rest.dueMs),
    );
  return {
    takeDue: (nowMs) => take(nowMs, false),
    nextDueMs: () => nextMs(false),
    takePutOff: (nowMs) => take(nowMs, true),
    nextPutOffMs: () => nextMs(true),
  } satisfies Partial<YoungFiles>;
}

function beginRest(settleTimeMs: number, nowMs: number): Rest {
  return { unchangedSinceMs: nowMs, pauseMs: settleTimeMs, dueMs: nowMs + settleTimeMs, needsTime: false };
}

/** A file that the agent made has stood still long enough when it is new. */
function beginRests(settleTimeMs: number, nowMs: number) {
  const rest = beginRest(settleTimeMs, nowMs);
  const atRest = beginRest(settleTimeMs, nowMs - settleTimeMs);
  return (path: string, known: Young | undefined): Rest => (!known && isMadePath(path) ? atRest : rest);
}

/** A list of 100,000 files would take megabytes at each turn. */
const MOST_TAKEN = 1000;

function earliest(times: Iterable<number>): number | undefined {
  let first: number | undefined;
  for (const timeMs of times) first = Math.min(first ?? timeMs, timeMs);
  return first;
}

/** Pauses grow, but a look is due at the latest when no end can be expected any more. */
function postponed(known: Rest, { settleTimeMs, incompleteAfterMs, longestPauseMs }: YoungTimes, nowMs: number): Rest {
  const overdueMs = known.unchangedSinceMs + incompleteAfterMs;
  const pauseMs = Math.min(known.pauseMs * 2, Math.max(longestPauseMs, settleTimeMs));
  const dueMs = overdueMs > nowMs ? Math.min(nowMs + known.pauseMs, overdueMs) : nowMs + known.pauseMs;
  return { ...known, pauseMs, dueMs };
}
