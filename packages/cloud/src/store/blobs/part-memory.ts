// Parts wait in memory while a budget of 128 MiB has room, else in a temporary file. No request waits for another one's memory, so slow
// senders do not hold up the others. The memory is used again, and that of each piece of a body is freed once the next one is requested,
// not when V8 collects garbage: V8 scans the whole heap whenever 64 MB outside of it were allocated and released. So receiving 1 GB in
// parts takes 2.4 CPU seconds instead of 6.2, of which the hash takes 0.6 and the kernel 0.8; reading them again for the import takes 1.2.
// We do not use `--external-memory-accounted-in-global-limit`, with which V8 collects less often, because a stream of 2 GB then took 900
// MB.

/**
 * The memory in which parts of all requests wait for their verification. No request waits for memory: one slow sender would hold up the
 * others.
 */
export interface PartMemory {
  /**
   * Lends so many bytes until they are given back, or returns undefined if they are not free now. The bytes may still hold an earlier part.
   */
  take(lengthBytes: number): LentBytes | undefined;
}

export interface LentBytes extends Disposable {
  readonly bytes: Buffer;
}

const KEEP_MS = 10_000;
const MOST_KEPT = 8;

/**
 * Lends at most `totalBytes`. The next part of the same length uses memory that was given back, and `keepMs` after the last part the memory
 * is freed. Memory of its own for each part would cost CPU time, because V8 collects garbage whenever some megabytes outside of its heap
 * were allocated and released.
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
