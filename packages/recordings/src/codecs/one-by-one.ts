/**
 * Lets work of some milliseconds be done one by one, each in a round of the event loop of its own. If many exports worked in the same
 * round, they would hold up everything else together, however short each piece of work is.
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

/** Waits for a round of this thread's event loop. */
export const nextRound: () => Promise<void> = createRounds();

/** Yields the values in several rounds, for work that takes some microseconds for each of maybe 65,536 values. */
export async function* inRounds<T>(values: Iterable<T>): AsyncGenerator<T> {
  let count = 0;
  for (const value of values) {
    count += 1;
    if (count % TURN_LENGTH === 0) await nextRound();
    yield value;
  }
}

const TURN_LENGTH = 1024;
