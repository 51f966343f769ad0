/** How many bytes may be held in memory at once, over all requests. Never waited for: one slow sender would hold up the others. */
export interface ByteBudget {
  /** A lease on this many bytes until it is disposed of; undefined when they are not free now. */
  reserve(bytes: number): Disposable | undefined;
}

export function createByteBudget(totalBytes: number): ByteBudget {
  let freeBytes = totalBytes;
  return {
    reserve(bytes) {
      if (bytes > freeBytes) return undefined;
      freeBytes -= bytes;
      return {
        [Symbol.dispose]: () => {
          freeBytes += bytes;
        },
      };
    },
  };
}
