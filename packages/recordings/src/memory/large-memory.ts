/**
 * Rations large memory: a chunk or a message of hundreds of megabytes is held by few readers at once. The first who asks is served first.
 * Whoever asks for more than the whole budget waits until the whole budget is free.
 */
export interface LargeMemory {
  /** Waits for a turn, which lasts until the result is disposed of. Throws the signal's reason when the signal aborts before. */
  take(sizeBytes: number, signal: AbortSignal | undefined): Promise<Disposable>;
}

/** Waits for a turn to hold so much memory. The turn lasts until the result is disposed of. */
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

/** All exports, salvages and indexing of this process share this budget. */
export const largeMemory: LargeMemory = createLargeMemory(128 * 1024 * 1024);

/** Grants every turn at once, for a reader that is counted elsewhere or that reads one file at a time. */
export const holdFreely: HoldMemory = async () => ({ [Symbol.dispose]: () => undefined });
