/** Lets one at a time do something, in the order of asking. */
export interface Turns {
  /** Waits for the turn. Disposing of it ends the turn. */
  take(): Promise<Disposable>;
}

export function createTurns(): Turns {
  let last = Promise.resolve();
  return {
    async take() {
      const before = last;
      const { promise, resolve } = Promise.withResolvers<void>();
      last = promise;
      await before;
      return { [Symbol.dispose]: resolve };
    },
  };
}
