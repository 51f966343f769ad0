import { createWakeSignal } from "../loops/wake-signal.ts";

/** Passes whoever has to wait for a lease as soon as there is one. */
export interface LeaseGate {
  open(lease: number): void;
  current(): number | undefined;
  /** Only when it is the current one that was lost. */
  close(lost: number): void;
  /** The current lease; throws the signal's reason once that is aborted. */
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
