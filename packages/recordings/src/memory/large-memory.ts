/**
 * Rations large memory: only few readers hold a chunk or a message of hundreds of megabytes at the same time. Requests are served in their
 * order. A request for more than the whole budget waits until the whole budget is free.
 */
export interface LargeMemory {
  /** Waits for a turn, which lasts until the result is disposed of. Throws the signal's reason when the signal aborts before. */
  take(sizeBytes: number, signal: AbortSignal | undefined): Promise<Disposable>;
  /**
   * Lends memory that is free, for bytes that can be read again; undefined if there is none. The loan lasts until it is disposed
   * of. `giveBack` is called once another caller needs the memory more: a borrower that can do without it disposes of the loan then.
   */
  lend(sizeBytes: number, giveBack: () => void): Disposable | undefined;
}

/** Waits for a turn to hold so much memory. The turn lasts until the result is disposed of. */
export type HoldMemory = (sizeBytes: number) => Promise<Disposable>;

/** A loan that was not used for this long is taken back for another one. */
const IDLE_MS = 1000;

export function createLargeMemory(budgetBytes: number, now: () => number = () => performance.now()): LargeMemory {
  return new Budget(budgetBytes, now);
}

interface Turn {
  readonly sizeBytes: number;
  go(): void;
}

interface Loan {
  readonly lentAtMs: number;
  giveBack(): void;
}

class Budget implements LargeMemory {
  readonly #budgetBytes: number;
  readonly #now: () => number;
  readonly #waiting: Turn[] = [];
  /** The oldest comes first. */
  readonly #loans = new Set<Loan>();
  #freeBytes: number;

  constructor(budgetBytes: number, now: () => number) {
    this.#budgetBytes = budgetBytes;
    this.#freeBytes = budgetBytes;
    this.#now = now;
  }

  async take(wantedBytes: number, signal: AbortSignal | undefined): Promise<Disposable> {
    signal?.throwIfAborted();
    const sizeBytes = Math.min(wantedBytes, this.#budgetBytes);
    const { promise, resolve, reject } = Promise.withResolvers<Disposable>();
    const turn = { sizeBytes, go: () => resolve(this.#hold(sizeBytes)) };
    const onAbort = (): void => {
      const index = this.#waiting.indexOf(turn);
      if (index < 0) return;
      this.#waiting.splice(index, 1);
      reject(signal!.reason);
      this.#letGo();
    };
    this.#waiting.push(turn);
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#letGo();
    this.#reclaim(
      this.#waiting.reduce((sum, each) => sum + each.sizeBytes, 0),
      Number.POSITIVE_INFINITY,
    );
    return await promise.finally(() => signal?.removeEventListener("abort", onAbort));
  }

  lend(sizeBytes: number, giveBack: () => void): Disposable | undefined {
    if (this.#waiting.length > 0 || sizeBytes > this.#budgetBytes) return undefined;
    const lentAtMs = this.#now();
    this.#reclaim(sizeBytes, lentAtMs - IDLE_MS);
    if (sizeBytes > this.#freeBytes) return undefined;
    const loan = { lentAtMs, giveBack };
    this.#loans.add(loan);
    return this.#hold(sizeBytes, () => this.#loans.delete(loan));
  }

  #hold(sizeBytes: number, onEnd?: () => void): Disposable {
    this.#freeBytes -= sizeBytes;
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#freeBytes += sizeBytes;
        onEnd?.();
        this.#letGo();
      },
    };
  }

  #letGo(): void {
    while (this.#waiting[0] && this.#waiting[0].sizeBytes <= this.#freeBytes) this.#waiting.shift()!.go();
  }

  /** Asks for loans that are old enough, until so much is free. */
  #reclaim(sizeBytes: number, latestMs: number): void {
    for (const loan of [...this.#loans]) {
      if (sizeBytes <= this.#freeBytes || loan.lentAtMs > latestMs) return;
      loan.giveBack();
    }
  }
}

/** All exports, salvages and indexing of this process share this budget. */
export const largeMemory: LargeMemory = createLargeMemory(128 * 1024 * 1024);

/** Grants every turn at once, for a reader that is counted elsewhere or that reads one file at a time. */
export const holdFreely: HoldMemory = async () => ({ [Symbol.dispose]: () => undefined });
