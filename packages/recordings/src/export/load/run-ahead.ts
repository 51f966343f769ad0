/** Work that can be started before its turn. */
export interface Task<T> {
  /** How much memory it may hold until its result is taken. */
  readonly weightBytes: number;
  run(): Promise<T>;
}

export interface AheadLimits {
  readonly mostBytes: number;
  readonly mostTasks: number;
}

/**
 * Yields the results of tasks in their order. Tasks are started ahead until they weigh `mostBytes`, but at least one and at most
 * `mostTasks`. The limits are asked for again before each. While the consumer takes no results, nothing more is started.
 */
export async function* runAhead<T>(tasks: AsyncIterable<Task<T>>, limits: () => AheadLimits): AsyncGenerator<T> {
  const iterator = tasks[Symbol.asyncIterator]();
  const started: { result: Promise<T>; weightBytes: number }[] = [];
  let heldBytes = 0;
  let pulled: Promise<IteratorResult<Task<T>>> | undefined;
  let isEnded = false;
  try {
    while (true) {
      const { mostBytes, mostTasks } = limits();
      const hasRoom = started.length === 0 || (heldBytes < mostBytes && started.length < mostTasks);
      if (!isEnded && hasRoom) pulled ??= expectFailure(iterator.next());
      const [first] = started;
      if (first === undefined && pulled === undefined) return;
      if (await isBefore(first?.result, pulled)) {
        started.shift();
        heldBytes -= first!.weightBytes;
        yield await first!.result;
        continue;
      }
      const { done, value: task } = await pulled!;
      pulled = undefined;
      isEnded = done === true;
      if (done) continue;
      heldBytes += task.weightBytes;
      started.push({ weightBytes: task.weightBytes, result: expectFailure(task.run()) });
    }
  } finally {
    await pulled?.catch(() => undefined);
    await iterator.return?.();
  }
}

/** Whether `one` is ready first. If both are ready, `other` wins, because more work is started first. */
function isBefore(one: Promise<unknown> | undefined, other: Promise<unknown> | undefined): Promise<boolean> {
  const racing: (Promise<boolean> | undefined)[] = [other?.then(() => false), one?.then(() => true)];
  return Promise.race(racing.filter((promise) => promise !== undefined));
}

/** A failure is thrown when its turn comes, and never if the consumer stops before. */
function expectFailure<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
