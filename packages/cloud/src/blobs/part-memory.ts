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
