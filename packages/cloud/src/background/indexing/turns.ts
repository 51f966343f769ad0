/** Lets a number of callers run at once; the others wait in the order in which they came. */
export interface Turns {
  /** A turn lasts until it is disposed of, once. Throws the signal's reason if the signal is aborted before the turn. */
  take(signal: AbortSignal): Promise<Disposable>;
}

export function createTurns(count: number): Turns {
  const waiting = new Set<() => void>();
  let free = count;
  const pass = () => {
    const [next] = waiting;
    if (!next) free += 1;
    else {
      waiting.delete(next);
      next();
    }
  };
  return {
    async take(signal) {
      signal.throwIfAborted();
      if (free > 0) free -= 1;
      else await untilPassed(waiting, signal);
      return { [Symbol.dispose]: pass };
    },
  };
}

async function untilPassed(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onAbort = () => {
    waiting.delete(resolve);
    reject(signal.reason);
  };
  waiting.add(resolve);
  signal.addEventListener("abort", onAbort, { once: true });
  return promise.finally(() => signal.removeEventListener("abort", onAbort));
}
