/** Wakes all that wait for a change. */
export class FakeChanges {
  readonly #waiting = new Set<() => void>();

  note(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Resolves at the next change, or when the signal is aborted. */
  async next(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    signal.addEventListener("abort", () => resolve(), { once: true });
    await promise;
    this.#waiting.delete(resolve);
  }
}
