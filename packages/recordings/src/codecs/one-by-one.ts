/**
 * Lets work of some milliseconds go one by one, a round of the event loop for each: what many exports do in one round would hold up
 * everything else together, however short each is.
 */
function createRounds(): () => Promise<void> {
  const waiting: (() => void)[] = [];
  const letGo = (): void => {
    waiting[0]!();
    waiting.shift();
    if (waiting.length > 0) setImmediate(letGo);
  };
  return () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(letGo);
    return promise;
  };
}

/** Of this thread. */
export const nextRound: () => Promise<void> = createRounds();
