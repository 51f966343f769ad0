/** Yields the same pieces until `signal` is aborted; then it throws the signal's reason at once, even while the source makes it wait. */
export async function* abortable<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void> {
  const pieces = source[Symbol.asyncIterator]();
  // There is one promise for each piece: racing all of them against one promise of the signal would keep them all in memory.
  let interrupt: (reason: unknown) => void = () => {};
  const onAbort = () => interrupt(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      const next = await new Promise<IteratorResult<T>>((resolve, reject) => {
        interrupt = reject;
        pieces.next().then(resolve, reject);
      });
      if (next.done) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    const closed = pieces.return?.();
    // A source that is aborted while it waits cannot close before its wait ends, so we do not wait for it.
    if (signal.aborted) closed?.catch(() => {});
    else await closed;
  }
}
