/** Wakes the loop that waits. A notification that finds no loop waiting is kept for the next wait, so that none is lost. */
export interface WakeSignal {
  notify(): void;
  /** Ends at the next notification, after `timeoutMs`, or once `signal` is aborted; it never throws. */
  wait(signal: AbortSignal, timeoutMs?: number): Promise<void>;
}

export function createWakeSignal(): WakeSignal {
  let isNotified = false;
  let wake: (() => void) | undefined;
  return {
    notify() {
      isNotified = true;
      wake?.();
    },
    async wait(signal, timeoutMs) {
      if (!isNotified && !signal.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        const timer = timeoutMs === undefined ? undefined : setTimeout(resolve, timeoutMs);
        signal.addEventListener("abort", wake);
        await promise;
        signal.removeEventListener("abort", wake);
        clearTimeout(timer);
        wake = undefined;
      }
      isNotified = false;
    },
  };
}

/** Waits for the delay, or until the signal is aborted; it never throws. */
export async function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  await createWakeSignal().wait(signal, delayMs);
}
