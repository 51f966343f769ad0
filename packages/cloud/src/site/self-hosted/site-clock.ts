import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../../core/clock.ts";

/** A control plane that answers nothing is waited for so long. */
const MOST_ASKING_MS = 10_000;

/** Whether a link has ended is judged by the control plane's clock, which made it, whatever this machine's clock says. */
export class SiteClock implements Clock {
  #aheadMs: number;
  #isAsked = false;
  readonly #asking = Promise.withResolvers<void>();

  /** If the control plane does not answer, the clocks are taken to differ as they did before. */
  constructor(aheadMs: number) {
    this.#aheadMs = aheadMs;
  }

  get aheadMs(): number {
    return this.#aheadMs;
  }

  nowNs(): bigint {
    return BigInt(Math.trunc(monotonicMs() + this.#aheadMs)) * 1_000_000n;
  }

  /** Takes the time of an answer that came just now. */
  set(serverTimeNs: bigint): void {
    this.#aheadMs = Number(serverTimeNs / 1_000_000n) - monotonicMs();
    this.endAsking();
  }

  /** The control plane was asked since the start, whether it answered or not. */
  endAsking(): void {
    this.#isAsked = true;
    this.#asking.resolve();
  }

  /** Waits until the control plane was asked, because this machine's clock may have jumped while the process was not running. */
  async untilAsked(): Promise<void> {
    if (this.#isAsked) return;
    await Promise.race([this.#asking.promise, delay(MOST_ASKING_MS, undefined, { ref: false })]);
    this.endAsking();
  }
}

/** The machine's time when the process began, and then the time that has passed: it does not jump. */
function monotonicMs(): number {
  return performance.timeOrigin + performance.now();
}
