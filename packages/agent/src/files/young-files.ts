import { isBeforeIndexing } from "../inventory/file-state.ts";
import { type FileIdentity, isSameIdentity } from "../inventory/identity.ts";
import type { TrackedFile } from "../inventory/tracked-file.ts";

export interface YoungTimes {
  readonly settleTimeMs: number;
  readonly incompleteAfterMs: number;
  /** The longest time between two looks at a file that does not change. */
  readonly longestPauseMs: number;
}

interface Young {
  readonly identity: FileIdentity;
  /** One object for all that a scan found anew: of 100,000 files at the first start. */
  readonly rest: Rest;
  /** Of the last sync that came across it: a mark and no list of all that are there, which would be megabytes. */
  round: number;
}

interface Rest {
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
  /** Files to take a quick look at now, longest due first; of very many, some. */
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
  let round = 0;
  const begin = (nowMs: number): Rest => {
    const dueMs = nowMs + settleTimeMs;
    return { unchangedSinceMs: nowMs, pauseMs: settleTimeMs, dueMs, needsTime: false };
  };
  const takeSome = (nowMs: number, isPutOff: boolean): string[] =>
    young
      .entries()
      .filter(([, { rest }]) => rest.needsTime === isPutOff && rest.dueMs <= nowMs)
      .take(MOST_TAKEN)
      .toArray()
      .sort(([, a], [, b]) => a.rest.dueMs - b.rest.dueMs)
      .map(([versionId]) => versionId);
  const nextMs = (isPutOff: boolean): number | undefined =>
    earliest(
      young
        .values()
        .filter(({ rest }) => rest.needsTime === isPutOff)
        .map(({ rest }) => rest.dueMs),
    );
  return {
    get size() {
      return young.size;
    },
    sync(files, nowMs) {
      const rest = begin(nowMs);
      round += 1;
      for (const { versionId, identity, state } of files) {
        if (!isBeforeIndexing(state)) continue;
        const known = young.get(versionId);
        if (known && isSameIdentity(known.identity, identity)) known.round = round;
        else young.set(versionId, { identity, rest, round });
      }
      for (const [versionId, known] of young) if (known.round !== round) young.delete(versionId);
    },
    takeDue: (nowMs) => takeSome(nowMs, false),
    nextDueMs: () => nextMs(false),
    putOff(versionId) {
      const known = young.get(versionId);
      if (known) young.set(versionId, { ...known, rest: { ...known.rest, needsTime: true } });
    },
    takePutOff: (nowMs) => takeSome(nowMs, true),
    nextPutOffMs: () => nextMs(true),
    restOf(versionId, nowMs) {
      const restMs = nowMs - (young.get(versionId)?.rest.unchangedSinceMs ?? nowMs);
      if (restMs >= incompleteAfterMs) return "overdue";
      return restMs >= settleTimeMs ? "settled" : "moving";
    },
    restart: (versionId, identity, nowMs) => void young.set(versionId, { identity, rest: begin(nowMs), round }),
    forget: (versionId) => void young.delete(versionId),
    hurry(versionId, nowMs) {
      const known = young.get(versionId);
      if (known) young.set(versionId, { ...known, rest: { ...known.rest, dueMs: nowMs } });
      return known !== undefined;
    },
    postpone(versionId, nowMs) {
      const known = young.get(versionId);
      if (known) young.set(versionId, { ...known, rest: postponed(known.rest, times, nowMs) });
    },
  };
}

/** Lists of all of 100,000 would be megabytes at each turn. */
const MOST_TAKEN = 1000;

function earliest(times: Iterable<number>): number | undefined {
  let first: number | undefined;
  for (const timeMs of times) first = Math.min(first ?? timeMs, timeMs);
  return first;
}

/** After longer and longer pauses, but no later than when no end can be expected any more. */
function postponed(known: Rest, { settleTimeMs, incompleteAfterMs, longestPauseMs }: YoungTimes, nowMs: number): Rest {
  const overdueMs = known.unchangedSinceMs + incompleteAfterMs;
  const pauseMs = Math.min(known.pauseMs * 2, Math.max(longestPauseMs, settleTimeMs));
  const dueMs = overdueMs > nowMs ? Math.min(nowMs + known.pauseMs, overdueMs) : nowMs + known.pauseMs;
  return { ...known, pauseMs, dueMs };
}
