import { ApiError } from "../../core/errors.ts";

/** Hellos, and first reads of work: the database keeps connections for calls that read and change things beside those that come in. */
const AT_ONCE = 4;
/** An agent that would stand in the line for longer comes back instead: a call has a timeout, and a line holds memory. */
const LONGEST_LINE_MS = 2000;
const LONGEST_WAIT_MS = 60_000;
/** An agent that has not come back this long after its time is not expected any more. */
const PATIENCE_MS = 60_000;
/** The guess before anything was measured, and the weight of a new measurement. */
const FIRST_GUESS_MS = 20;
const WEIGHT = 0.05;

/**
 * Lets in agents that all come at once, as after a restart: some run at once, the next ones wait in a line, and all others get 503 with the
 * time of their turn, at the rate at which agents are served. An agent that comes then goes before newcomers, and one that comes too early
 * gets the same time again.
 */
export class Admission {
  readonly #nowMs: () => number;
  readonly #line: (() => void)[] = [];
  /** The times at which agents are expected, by owner, in the order in which they were given. */
  readonly #expectedAtMs = new Map<string, number>();
  #running = 0;
  #meanMs = FIRST_GUESS_MS;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Runs the work in its turn; 503 with the time to come back if that would take too long. */
  async run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    this.#admit(owner);
    if (this.#running < AT_ONCE) this.#running += 1;
    else await new Promise<void>((resolve) => this.#line.push(resolve));
    const startedMs = this.#nowMs();
    try {
      return await work();
    } finally {
      this.#meanMs += WEIGHT * (this.#nowMs() - startedMs - this.#meanMs);
      const next = this.#line.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }

  #admit(owner: string): void {
    const nowMs = this.#nowMs();
    this.#forgetMissing(nowMs);
    const expectedAtMs = this.#expectedAtMs.get(owner);
    const hasRoom = this.#msFor(this.#line.length) <= LONGEST_LINE_MS;
    const isIdle = this.#running < AT_ONCE;
    const isItsTurn = expectedAtMs === undefined ? isIdle || this.#expectedAtMs.size === 0 : nowMs >= expectedAtMs;
    if (hasRoom && isItsTurn) return void this.#expectedAtMs.delete(owner);
    if (expectedAtMs !== undefined && !isItsTurn) throw comeBackIn(expectedAtMs - nowMs);
    const waitMs = Math.min(LONGEST_WAIT_MS, this.#msFor(this.#line.length + this.#expectedAtMs.size));
    this.#expectedAtMs.set(owner, nowMs + waitMs);
    throw comeBackIn(waitMs);
  }

  #msFor(count: number): number {
    return (count * this.#meanMs) / AT_ONCE;
  }

  #forgetMissing(nowMs: number): void {
    for (const [owner, expectedAtMs] of this.#expectedAtMs) {
      if (nowMs < expectedAtMs + PATIENCE_MS) return;
      this.#expectedAtMs.delete(owner);
    }
  }
}

function comeBackIn(ms: number): ApiError {
  const retryAfterSeconds = Math.max(1, Math.ceil(ms / 1000));
  return new ApiError("Unavailable", "many agents come at once; this one's turn is later", { retryAfterSeconds });
}
