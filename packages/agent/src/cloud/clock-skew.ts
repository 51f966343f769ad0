import type { ProblemBoard } from "../diagnostics/problems.ts";
import type { Clock } from "../system/clock.ts";
import { formatDuration } from "../text/amounts.ts";

/** A time that the server said, and when it was asked: the answer was written some time in between. */
export interface ServerTimeSample {
  readonly serverMs: number;
  /** The time is cut off to that: 1000 for the header `Date`. */
  readonly precisionMs: number;
  /** Of this machine; the answer is here at this moment. */
  readonly sentUptimeMs: number;
}

/** How far the clock of this device is from the server's. */
export interface ClockSkew {
  note(sample: ServerTimeSample): void;
  /** Server's clock minus ours in milliseconds, by our clock as it is set at this moment; undefined until the server said its time. */
  currentMs(): number | undefined;
  /** Raises the problem or ends it. Whoever is about to show problems calls it: the clock may have been set since. */
  judge(): void;
}

/** Below it, timestamps of robots differ anyway. */
const MAX_SKEW_MS = 60_000;

/**
 * The server's clock is known as its distance to this machine's uptime, which nobody sets. Each answer gives bounds of it, the
 * narrower the quicker the answer was; bounds that contradict the known ones are of a server whose clock was set.
 */
export function createClockSkew({
  clock,
  problems,
}: {
  readonly clock: Pick<Clock, "nowNs" | "uptimeMs">;
  readonly problems: ProblemBoard;
}): ClockSkew {
  let bounds: { readonly leastMs: number; readonly mostMs: number } | undefined;
  const wallMs = () => Number(clock.nowNs() / 1_000_000n);
  const ownMs = () => wallMs() - clock.uptimeMs();
  const currentMs = () => bounds && Math.round((bounds.leastMs + bounds.mostMs) / 2 - ownMs());
  const judge = () => {
    const skewMs = currentMs();
    if (bounds === undefined || skewMs === undefined) return;
    const isCertain = bounds.leastMs - ownMs() > MAX_SKEW_MS || bounds.mostMs - ownMs() < -MAX_SKEW_MS;
    if (isCertain) problems.raise("ClockSkewed", describeSkew(skewMs));
    else if (Math.abs(skewMs) <= MAX_SKEW_MS) problems.clear("ClockSkewed");
  };
  return {
    note({ serverMs, precisionMs, sentUptimeMs }) {
      const given = { leastMs: serverMs - clock.uptimeMs(), mostMs: serverMs + precisionMs - sentUptimeMs };
      const both = bounds && {
        leastMs: Math.max(given.leastMs, bounds.leastMs),
        mostMs: Math.min(given.mostMs, bounds.mostMs),
      };
      bounds = both && both.leastMs <= both.mostMs ? both : given;
      judge();
    },
    currentMs,
    judge,
  };
}

function describeSkew(skewMs: number): string {
  const isBehind = skewMs > 0;
  return `this device's clock is ${formatDuration(Math.abs(skewMs) / 1000)} ${isBehind ? "behind" : "ahead of"} the control plane's`;
}
