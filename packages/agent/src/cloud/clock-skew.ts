import type { Transport } from "@downlink/client";
import { formatDuration } from "@downlink/terminal/amounts";
import type { ProblemBoard } from "../diagnostics/problems.ts";
import type { Clock } from "../system/clock.ts";

/** A time that the server gave, and when it was asked: the server wrote the answer some time in between. */
export interface ServerTimeSample {
  readonly serverMs: number;
  /** The time is rounded down to this precision: 1000 for the header `Date`. */
  readonly precisionMs: number;
  /** The uptime of this machine when the request was sent; the answer has just arrived. */
  readonly sentUptimeMs: number;
}

/** How far the clock of this device is from the server's. */
export interface ClockSkew {
  note(sample: ServerTimeSample): void;
  /** The server's clock minus ours in milliseconds, by our clock as it is set now; undefined until the server gave its time. */
  currentMs(): number | undefined;
  /** Raises the problem or ends it. It is called before problems are shown, because the clock may have been set since. */
  judge(): void;
}

/** Timestamps of robots differ by less than this anyway. */
const MAX_SKEW_MS = 60_000;
/** The header `Date` holds whole seconds. */
const DATE_PRECISION_MS = 1000;

/**
 * The server's clock is known by its distance to this machine's uptime, which cannot be set. Each answer gives bounds of that distance, and
 * a quicker answer gives narrower ones. Bounds that contradict the known ones mean that the server's clock was set.
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

/**
 * Returns a transport that notes the time of each answer. An answer that is not JSON comes from a portal or a proxy, whose time
 * does not count.
 */
export function watchServerDate(
  transport: Transport,
  { clock, skew }: { readonly clock: Pick<Clock, "uptimeMs">; readonly skew: ClockSkew },
): Transport {
  return async (request) => {
    const sentUptimeMs = clock.uptimeMs();
    const response = await transport(request);
    const serverMs = Date.parse(response.headers.get("date") ?? "");
    const isOurs = response.headers.get("content-type")?.includes("json") === true;
    if (isOurs && !Number.isNaN(serverMs)) skew.note({ serverMs, precisionMs: DATE_PRECISION_MS, sentUptimeMs });
    return response;
  };
}
