import { monitorEventLoopDelay } from "node:perf_hooks";

/** How long the main thread computes without letting anything else go. */
export interface Turns {
  /** Processor time of this thread in milliseconds: an upper bound of the longest turn. */
  readonly longestMs: number;
  /** The longest delay of the event loop in milliseconds of wall time, which says more about the machine than about the program. */
  readonly longestDelayMs: number;
  end(): void;
}

/** A timer fires once in each round of the event loop at most: what the thread computes between two firings bounds every turn between. */
export function measureTurns(): Turns {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  let longestMs = 0;
  let before = process.threadCpuUsage();
  const timer = setInterval(() => {
    const now = process.threadCpuUsage();
    longestMs = Math.max(longestMs, (now.user + now.system - before.user - before.system) / 1000);
    before = now;
  }, 1);
  return {
    get longestMs() {
      return longestMs;
    },
    get longestDelayMs() {
      return delay.max / 1e6;
    },
    end() {
      clearInterval(timer);
      delay.disable();
    },
  };
}
