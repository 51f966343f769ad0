// Parts wait in memory while a budget of 128 MiB has room, else in a temporary file. No request waits for another's
// memory, so slow senders do not hold up the others. The memory is used again, and that of each piece of a body is
// freed once the next one is asked for, not when V8 looks for garbage: it looks through the whole heap whenever 64
// MB outside of it came and went. Receiving 1 GB in parts takes 2.4 CPU seconds instead of 6.2, of which the hash
// takes 0.6 and the kernel 0.8; to read them again for the import takes 1.2. Not by
// `--external-memory-accounted-in-global-limit`, with which V8 looks less often: a stream of 2 GB took 900 MB.

/** Memory in which parts wait for their verification, over all requests. Never waited for: one slow sender would hold up the others. */
export interface PartMemory {
  /** So many bytes until they are given back; undefined when they are not free now. They may hold what an earlier part left. */
  take(lengthBytes: number): LentBytes | undefined;
}

export interface LentBytes extends Disposable {
  readonly bytes: Buffer;
}

const KEEP_MS = 10_000;
const MOST_KEPT = 8;

/**
 * At most `totalBytes`. What was given back is used again by the next part of the same length, and let go `keepMs` after the last
 * one: memory of its own for each costs CPU time, because V8 looks for garbage whenever some megabytes outside of its heap
 * came and went.
 */
export function createPartMemory(totalBytes: number, keepMs = KEEP_MS): PartMemory {
  let freeBytes = totalBytes;
  let kept: Buffer[] = [];
  let lettingGo: NodeJS.Timeout | undefined;
  return {
    take(lengthBytes) {
      if (lengthBytes > freeBytes) return undefined;
      freeBytes -= lengthBytes;
      const bytes = takeKept(lengthBytes) ?? Buffer.allocUnsafeSlow(lengthBytes);
      while (sizeOf(kept) > freeBytes) kept.shift();
      return {
        bytes,
        [Symbol.dispose]() {
          freeBytes += lengthBytes;
          kept = [...kept, bytes].slice(-MOST_KEPT);
          clearTimeout(lettingGo);
          lettingGo = setTimeout(() => (kept = []), keepMs).unref();
        },
      };
    },
  };

  function takeKept(lengthBytes: number): Buffer | undefined {
    const index = kept.findIndex(({ byteLength }) => byteLength === lengthBytes);
    return index === -1 ? undefined : kept.splice(index, 1)[0];
  }
}

function sizeOf(buffers: readonly Buffer[]): number {
  return buffers.reduce((sum, { byteLength }) => sum + byteLength, 0);
}
