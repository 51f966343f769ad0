import { isBeforeIndexing } from "../inventory/file-state.ts";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import { type FileIdentity, isSameIdentity } from "./identity.ts";

export interface YoungTimes {
  readonly settleTimeMs: number;
  readonly incompleteAfterMs: number;
  /** The longest time between two looks at a file that does not change. */
  readonly longestPauseMs: number;
}

interface Young {
  readonly identity: FileIdentity;
  readonly unchangedSinceMs: number;
  readonly pauseMs: number;
  readonly dueMs: number;
  /** A quick look did not tell what it is. */
  readonly needsTime: boolean;
}

/**
 * When to look at each file that has no end yet. In memory only: after a restart a file has to stand still anew. All
 * times are monotonic milliseconds.
 */
export interface YoungFiles {
  readonly size: number;
  /** Takes in what is new or has changed, and drops what is young no longer. */
  sync(files: Iterable<TrackedFile>, nowMs: number): void;
  /** The files to take a quick look at now, longest due first. */
  takeDue(nowMs: number): string[];
  /** When the next quick look is due. */
  nextDueMs(): number | undefined;
  /** A quick look does not tell what it is. */
  putOff(versionId: string): void;
  /** Those that were put off and are due, longest first. */
  takePutOff(nowMs: number): string[];
  /** When the next that was put off is due. */
  nextPutOffMs(): number | undefined;
  /** Whether the file stood still long enough to be examined, or so long that no end can be expected. */
  restOf(versionId: string, nowMs: number): "moving" | "settled" | "overdue";
  /** It was found changed: it has to stand still anew. */
  restart(versionId: string, identity: FileIdentity, nowMs: number): void;
  /** It is young no longer. */
  forget(versionId: string): void;
  /** It is looked at as soon as somebody asks what is due. Answers whether it is young. */
  hurry(versionId: string, nowMs: number): boolean;
  /** It was looked at to no avail: again later, after longer and longer pauses. */
  postpone(versionId: string, nowMs: number): void;
}

export function createYoungFiles(times: YoungTimes): YoungFiles {
  const { settleTimeMs, incompleteAfterMs } = times;
  const young = new Map<string, Young>();
  const begin = (identity: FileIdentity, nowMs: number): Young => {
    const dueMs = nowMs + settleTimeMs;
    return { identity, unchangedSinceMs: nowMs, pauseMs: settleTimeMs, dueMs, needsTime: false };
  };
  const takeAll = (nowMs: number, isPutOff: boolean): string[] =>
    [...young]
      .filter(([, { dueMs, needsTime }]) => needsTime === isPutOff && dueMs <= nowMs)
      .sort(([, a], [, b]) => a.dueMs - b.dueMs)
      .map(([versionId]) => versionId);
  const nextMs = (isPutOff: boolean): number | undefined =>
    earliest(
      young
        .values()
        .filter(({ needsTime }) => needsTime === isPutOff)
        .map(({ dueMs }) => dueMs),
    );
  return {
    get size() {
      return young.size;
    },
    sync(files, nowMs) {
      const stillYoung = new Set<string>();
      for (const { versionId, identity, state } of files) {
        if (!isBeforeIndexing(state)) continue;
        stillYoung.add(versionId);
        const known = young.get(versionId);
        if (!known || !isSameIdentity(known.identity, identity)) young.set(versionId, begin(identity, nowMs));
      }
      for (const versionId of young.keys()) if (!stillYoung.has(versionId)) young.delete(versionId);
    },
    takeDue: (nowMs) => takeAll(nowMs, false),
    nextDueMs: () => nextMs(false),
    putOff(versionId) {
      const known = young.get(versionId);
      if (known) young.set(versionId, { ...known, needsTime: true });
    },
    takePutOff: (nowMs) => takeAll(nowMs, true),
    nextPutOffMs: () => nextMs(true),
    restOf(versionId, nowMs) {
      const restMs = nowMs - (young.get(versionId)?.unchangedSinceMs ?? nowMs);
      if (restMs >= incompleteAfterMs) return "overdue";
      return restMs >= settleTimeMs ? "settled" : "moving";
    },
    restart: (versionId, identity, nowMs) => void young.set(versionId, begin(identity, nowMs)),
    forget: (versionId) => void young.delete(versionId),
    hurry(versionId, nowMs) {
      const known = young.get(versionId);
      if (known) young.set(versionId, { ...known, dueMs: nowMs });
      return known !== undefined;
    },
    postpone(versionId, nowMs) {
      const known = young.get(versionId);
      if (known) young.set(versionId, postponed(known, times, nowMs));
    },
  };
}

function earliest(times: Iterable<number>): number | undefined {
  let first: number | undefined;
  for (const timeMs of times) first = Math.min(first ?? timeMs, timeMs);
  return first;
}

/** After longer and longer pauses, but no later than when no end can be expected any more. */
function postponed(
  known: Young,
  { settleTimeMs, incompleteAfterMs, longestPauseMs }: YoungTimes,
  nowMs: number,
): Young {
  const overdueMs = known.unchangedSinceMs + incompleteAfterMs;
  const pauseMs = Math.min(known.pauseMs * 2, Math.max(longestPauseMs, settleTimeMs));
  const dueMs = overdueMs > nowMs ? Math.min(nowMs + known.pauseMs, overdueMs) : nowMs + known.pauseMs;
  return { ...known, pauseMs, dueMs };
}
