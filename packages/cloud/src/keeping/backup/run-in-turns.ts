const AT_ONCE = 4;

/** Handles some items at a time, and returns the results in the order of the items. */
export async function runInTurns<T, R>(items: readonly T[], act: (item: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = [];
  for (let first = 0; first < items.length; first += AT_ONCE)
    answers.push(...(await Promise.all(items.slice(first, first + AT_ONCE).map(act))));
  return answers;
}
