import { createWakeSignal } from "../loops/wake-signal.ts";

/** Lets calls wait for a lease, and pass as soon as there is one. */
export interface LeaseGate {
  open(lease: number): void;
  current(): number | undefined;
  /** Closes the gate only where the lost lease is the current one. */
  close(lost: number): void;
  /** Waits for the current lease; throws the signal's reason once that is aborted. */
  pass(signal: AbortSignal): Promise<number>;
  /** Ends when the gate is closed, or the signal is aborted. */
  untilClosed(signal: AbortSignal): Promise<void>;
}

export function createLeaseGate(): LeaseGate {
  const closedSignal = createWakeSignal();
  let gate = Promise.withResolvers<number>();
  let current: number | undefined;
  return {
    open(lease) {
      current = lease;
      gate.resolve(lease);
    },
    current: () => current,
    close(lost) {
      if (current !== lost) return;
      current = undefined;
      gate = Promise.withResolvers();
      closedSignal.notify();
    },
    async pass(signal) {
      signal.throwIfAborted();
      const aborted = Promise.withResolvers<never>();
      const onAbort = () => aborted.reject(signal.reason);
      signal.addEventListener("abort", onAbort);
      try {
        return await Promise.race([gate.promise, aborted.promise]);
      } finally {
        signal.removeEventListener("abort", onAbort);
      }
    },
    untilClosed: (signal) => closedSignal.wait(signal),
  };
}
