import type { CoverageSpan } from "@downlink/protocol";
import type { Span } from "../timeline/view.ts";

const DAY_NS = 86_400_000_000_000n;
const YEAR_NS = 365n * DAY_NS;
/** No robot of which there are recordings is older: a time before it is that of a clock that was never set. */
export const EARLIEST_NS = 30n * YEAR_NS;
const ROOM = 50n;
/** The length of a range of which only one end is given. */
const LONE_END_NS = 30n * DAY_NS;
const LEAST_NS = 60_000_000_000n;

/** Returns the range that Fit shows: all usual times with some room. A robot that believed it was 1970 widens nothing. */
export function fitOf({ usual }: CoverageSpan, firstSaneNs: bigint | undefined): Span | undefined {
  if (!usual) return undefined;
  const startNs = usual.start < EARLIEST_NS ? (firstSaneNs ?? usual.start) : usual.start;
  const endNs = usual.end < startNs ? startNs : usual.end;
  const roomNs = (endNs - startNs) / ROOM + LEAST_NS / 2n;
  return { startNs: startNs - roomNs, endNs: endNs + roomNs };
}

/** Returns whether some data lies so far before all other that a clock must have been wrong. */
export function hasWrongClock({ all, usual }: CoverageSpan): boolean {
  if (!all || !usual) return false;
  return all.start < EARLIEST_NS || all.start < usual.start - 10n * YEAR_NS;
}

/** Returns both ends of the range to show; a missing end is now, or as far away as the data needs. */
export function closeSpan(
  { startNs, endNs }: { startNs: bigint | undefined; endNs: bigint | undefined },
  nowNs: bigint,
): Span {
  const end = endNs ?? (startNs !== undefined && startNs >= nowNs ? startNs + LONE_END_NS : nowNs);
  const start = startNs ?? end - LONE_END_NS;
  return { startNs: start, endNs: end > start ? end : start + LEAST_NS };
}

/** Returns whether the usual range shows enough of the data: there is some in it, and more before it. */
export function isUsualEnough({ startNs, endNs }: Span, nowMs: number): boolean {
  const nowNs = BigInt(nowMs) * 1_000_000n;
  return endNs > nowNs - LONE_END_NS && startNs < nowNs - LONE_END_NS / 2n && startNs <= nowNs;
}
