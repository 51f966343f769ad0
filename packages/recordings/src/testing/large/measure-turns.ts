import { monitorEventLoopDelay } from "node:perf_hooks";

/** How long the main thread computes without letting anything else go. */
export interface Turns {
  /** Of processor time of this thread, in milliseconds: an upper bound of the longest turn. */
  readonly longestMs: number;
  /** Of the event loop, in milliseconds of wall time: says more of the machine than of the program. */
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
