/** Wakes whoever waits. A ring while nobody waits is kept for the next wait, so that none is lost. */
export interface WakeSignal {
  notify(): void;
  /** Ends at the next ring, after `timeoutMs`, or once `signal` is aborted; throws in no case. */
  wait(signal: AbortSignal, timeoutMs?: number): Promise<void>;
}

export function createWakeSignal(): WakeSignal {
  let isRung = false;
  let wake: (() => void) | undefined;
  return {
    notify() {
      isRung = true;
      wake?.();
    },
    async wait(signal, timeoutMs) {
      if (!isRung && !signal.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        const timer = timeoutMs === undefined ? undefined : setTimeout(resolve, timeoutMs);
        signal.addEventListener("abort", wake);
        await promise;
        signal.removeEventListener("abort", wake);
        clearTimeout(timer);
        wake = undefined;
      }
      isRung = false;
    },
  };
}

/** Waits so long, or until the signal is aborted; throws in no case. */
export async function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  await createWakeSignal().wait(signal, delayMs);
}
