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

/** The values, in turns: for work that takes some microseconds for each of maybe 65,536. */
export async function* inRounds<T>(values: Iterable<T>): AsyncGenerator<T> {
  let count = 0;
  for (const value of values) {
    count += 1;
    if (count % turnLength === 0) await nextRound();
    yield value;
  }
}

const turnLength = 1024;
