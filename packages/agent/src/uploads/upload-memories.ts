import { retryDelayMs } from "@downlink/client";
import type { FileIdentity } from "../inventory/identity.ts";
import type { Clock } from "../system/clock.ts";
import { createPartHashes, type HashPlan, type PartHashes } from "./upload-parts.ts";

/** An upload that waits after a failed try. */
export interface Retry {
  readonly path: string;
  readonly failures: number;
  readonly lastError: string;
  readonly inMs: number;
}

/** The agent's memory about requests between two tries. */
export interface UploadMemories {
  /** Lets a request rest after a failed try, longer each time. `path` is given where the file is known. */
  rest(requestId: string, failure: unknown, path?: string): void;
  /** Lets a request rest for so long, because where it goes cannot be reached: it is no failure of the request. */
  restFor(requestId: string, restMs: number, lastTry: { readonly path: string; readonly error: string }): void;
  isResting(requestId: string): boolean;
  /** Ends the rest of a request. Returns whether it rested. */
  wake(requestId: string): boolean;
  /** The time until the next request has rested; undefined where none rests. */
  restMs(): number | undefined;
  /** The requests that rest, soonest first. */
  retries(): Retry[];
  /** Counts a failed read of the file, and returns how many there were. */
  noteReadFailure(requestId: string): number;
  /** Sets the complaint about an upload that does not succeed; undefined takes it back. */
  complain(requestId: string, text: string | undefined): void;
  /** The first complaint. */
  complaint(): string | undefined;
  /** Returns the hashes that an earlier try may have begun, while the file was not touched since. */
  hashesFor(requestId: string, of: HashedParts): PartHashes;
  forgetHashes(requestId: string): void;
  forget(requestId: string): void;
  keepOnly(requestIds: ReadonlySet<string>): void;
}

interface HashedParts extends HashPlan {
  readonly identity: FileIdentity;
}

interface Memory {
  failures: number;
  readFailures: number;
  notBeforeMs: number;
  complaint?: string;
  lastTry?: { readonly path: string; readonly error: string };
  hashes?: HashedParts & { readonly partHashes: PartHashes };
}

export function createUploadMemories(clock: Clock): UploadMemories {
  const memories = new Map<string, Memory>();
  const recall = (requestId: string): Memory => {
    const known = memories.get(requestId) ?? { failures: 0, readFailures: 0, notBeforeMs: 0 };
    memories.set(requestId, known);
    return known;
  };
  return {
    rest(requestId, failure, path) {
      const memory = recall(requestId);
      memory.failures += 1;
      memory.notBeforeMs = clock.monotonicMs() + retryDelayMs(failure, memory.failures, clock);
      if (path !== undefined) memory.lastTry = { path, error: (failure as Error).message };
    },
    restFor(requestId, restMs, lastTry) {
      Object.assign(recall(requestId), { notBeforeMs: clock.monotonicMs() + restMs, lastTry });
    },
    isResting: (requestId) => (memories.get(requestId)?.notBeforeMs ?? 0) > clock.monotonicMs(),
    wake(requestId) {
      const memory = memories.get(requestId);
      if (!memory || memory.notBeforeMs <= clock.monotonicMs()) return false;
      memory.notBeforeMs = 0;
      return true;
    },
    restMs: () => shortestRestMs(memories.values(), clock.monotonicMs()),
    retries: () => listRetries(memories.values(), clock.monotonicMs()),
    noteReadFailure: (requestId) => ++recall(requestId).readFailures,
    complain(requestId, text) {
      recall(requestId).complaint = text;
    },
    complaint: () => memories.values().find(({ complaint }) => complaint !== undefined)?.complaint,
    hashesFor(requestId, { partSize, digest, identity }) {
      const memory = recall(requestId);
      const { hashes } = memory;
      if (hashes?.partSize === partSize && hashes.digest === digest && hashes.identity === identity)
        return hashes.partHashes;
      const partHashes = createPartHashes(clock.nowNs(), digest);
      memory.hashes = { partSize, digest, identity, partHashes };
      return partHashes;
    },
    forgetHashes(requestId) {
      recall(requestId).hashes = undefined;
    },
    forget: (requestId) => void memories.delete(requestId),
    keepOnly(requestIds) {
      for (const requestId of memories.keys()) if (!requestIds.has(requestId)) memories.delete(requestId);
    },
  };
}

function shortestRestMs(memories: Iterable<Memory>, nowMs: number): number | undefined {
  const waits = Array.from(memories, ({ notBeforeMs }) => notBeforeMs - nowMs).filter((ms) => ms > 0);
  return waits.length === 0 ? undefined : Math.ceil(Math.min(...waits));
}

function listRetries(memories: Iterable<Memory>, nowMs: number): Retry[] {
  const retries = [...memories].flatMap(({ lastTry, failures, notBeforeMs }) =>
    lastTry && notBeforeMs > nowMs
      ? [{ path: lastTry.path, lastError: lastTry.error, failures, inMs: notBeforeMs - nowMs }]
      : [],
  );
  return retries.toSorted((a, b) => a.inMs - b.inMs);
}
