import { formatTimestamp } from "@downlink/protocol";
import type { Clock } from "./clock.ts";

/** The end of a wait, as it is kept for the processes that come later. */
export interface WaitEnd {
  /** How long the wait lasts, and until when by the wall clock. */
  readonly forMs: number;
  readonly until: string;
  /** The end by the uptime of the machine, and the start from which the uptime counts. */
  readonly endsAtUptimeMs: number;
  readonly bootId?: string | undefined;
}

interface Machine {
  readonly clock: Pick<Clock, "nowNs" | "uptimeMs">;
  readonly bootId: string | undefined;
}

export function endIn(forMs: number, { clock, bootId }: Machine): WaitEnd {
  const until = formatTimestamp(clock.nowNs() + BigInt(forMs) * 1_000_000n);
  return { forMs, until, bootId, endsAtUptimeMs: clock.uptimeMs() + forMs };
}

/**
 * Returns the end as this process counts it; it is the same object where nothing changed. It is counted by the machine's uptime, which
 * cannot be set. After a restart of the machine only the wall clock is left, which may be wrong by years: it may end the wait, but never
 * makes it longer than it was at first.
 */
export function countOn<T extends WaitEnd>(end: T, { clock, bootId }: Machine): T {
  if (end.bootId !== undefined && end.bootId === bootId) return end;
  return { ...end, bootId, endsAtUptimeMs: clock.uptimeMs() + leftByWallClock(end, clock) };
}

function leftByWallClock({ forMs, until }: WaitEnd, clock: Machine["clock"]): number {
  const leftMs = Date.parse(until) - Number(clock.nowNs() / 1_000_000n);
  return Number.isNaN(leftMs) ? forMs : Math.min(forMs, Math.max(0, leftMs));
}
