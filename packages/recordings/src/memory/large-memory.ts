/**
 * What is too large to be held by many at once is held by few: a chunk of hundreds of megabytes, a message as large as that. First come,
 * first served; one that is larger than all there is waits until it has everything.
 */
export interface LargeMemory {
  /** Lasts until it is disposed of, once. Throws the signal's reason when that comes before. */
  take(sizeBytes: number, signal: AbortSignal | undefined): Promise<Disposable>;
}

/** The same for one who reads: waits for its turn, which lasts until it is disposed of. */
export type HoldMemory = (sizeBytes: number) => Promise<Disposable>;

export function createLargeMemory(budgetBytes: number): LargeMemory {
  const waiting: { sizeBytes: number; go: () => void }[] = [];
  let freeBytes = budgetBytes;
  const letGo = (): void => {
    while (waiting[0] && waiting[0].sizeBytes <= freeBytes) {
      const next = waiting.shift()!;
      freeBytes -= next.sizeBytes;
      next.go();
    }
  };
  return {
    async take(wantedBytes, signal) {
      signal?.throwIfAborted();
      const sizeBytes = Math.min(wantedBytes, budgetBytes);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const turn = { sizeBytes, go: resolve };
      waiting.push(turn);
      const onAbort = (): void => {
        const index = waiting.indexOf(turn);
        if (index < 0) return;
        waiting.splice(index, 1);
        reject(signal!.reason);
        letGo();
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      letGo();
      await promise.finally(() => signal?.removeEventListener("abort", onAbort));
      let isHeld = true;
      return {
        [Symbol.dispose]() {
          if (isHeld) freeBytes += sizeBytes;
          isHeld = false;
          letGo();
        },
      };
    },
  };
}

/** Over everything that reads recordings in this process: exports, salvages, indexing. */
export const largeMemory: LargeMemory = createLargeMemory(128 * 1024 * 1024);

/** For who counts elsewhere, or reads one file at a time. */
export const holdFreely: HoldMemory = async () => ({ [Symbol.dispose]: () => undefined });
