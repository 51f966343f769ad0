import { largeMemory } from "@downlink/recordings";

/** The share of a thread in the memory that the whole process shares. Disposing gives all of it back. */
export interface HeldMemory extends Disposable {
  /** Resolves when its turn has come. Throws the signal's reason if the signal is aborted before. */
  take(id: number, sizeBytes: number): Promise<void>;
  release(id: number): void;
}

export function openHeldMemory(signal: AbortSignal): HeldMemory {
  const held = new Map<number, Disposable>();
  const ended = new AbortController();
  const release = (id: number): void => {
    held.get(id)?.[Symbol.dispose]();
    held.delete(id);
  };
  return {
    async take(id, sizeBytes) {
      const turn = await largeMemory.take(sizeBytes, AbortSignal.any([signal, ended.signal]));
      held.set(id, turn);
      if (ended.signal.aborted) release(id);
    },
    release,
    [Symbol.dispose]() {
      ended.abort();
      for (const id of [...held.keys()]) release(id);
    },
  };
}
