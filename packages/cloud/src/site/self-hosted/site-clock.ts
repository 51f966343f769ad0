import type { Clock } from "../../core/clock.ts";

/** Whether a link has ended is judged by the control plane's clock, which made it, whatever this machine's clock says. */
export class SiteClock implements Clock {
  #aheadMs: number;

  /** Before the control plane answers, the clocks are taken to differ as they did before. */
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
  }
}

/** The machine's time when the process began, and then the time that has passed: it does not jump. */
function monotonicMs(): number {
  return performance.timeOrigin + performance.now();
}
