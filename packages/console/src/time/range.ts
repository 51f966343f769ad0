import { formatTimestamp } from "@downlink/protocol";
import { formatExact, formatSecond, type ZoneName } from "./format-time.ts";
import { isRelative, parseTime } from "./parse-time.ts";

/** A range of time as it stands in an address: each end is RFC 3339, a distance from now, or empty for no bound. */
export interface TypedRange {
  readonly from: string;
  readonly to: string;
}

export interface Range {
  readonly startNs: bigint | undefined;
  readonly endNs: bigint | undefined;
}

/** Returns the moments that a range means now. */
export function resolveRange({ from, to }: TypedRange, nowMs: number): Range {
  return { startNs: resolve(from, nowMs), endNs: resolve(to, nowMs) };
}

function resolve(text: string, nowMs: number): bigint | undefined {
  if (text === "") return undefined;
  const parsed = parseTime(text, { zone: "UTC", nowMs });
  return "timeNs" in parsed ? parsed.timeNs : undefined;
}

/** Returns the bounds of a list, as its operation takes them. */
export function boundsOf(range: TypedRange, nowMs: number): { start?: bigint; end?: bigint } {
  const { startNs, endNs } = resolveRange(range, nowMs);
  return { ...(startNs !== undefined && { start: startNs }), ...(endNs !== undefined && { end: endNs }) };
}

/** Returns the same range with times of its own instead of distances from now, so that a link to it means the same tomorrow. */
export function toAbsolute(range: TypedRange, nowMs: number): TypedRange {
  const { startNs, endNs } = resolveRange(range, nowMs);
  const write = (timeNs: bigint | undefined) => (timeNs === undefined ? "" : formatTimestamp(timeNs));
  return {
    from: write(startNs),
    to: write(endNs ?? (isRelative(range.from) ? BigInt(nowMs) * 1_000_000n : undefined)),
  };
}

/** Moves a range by its own length, `times` forward; a range without two ends stays. */
export function shiftRange(range: TypedRange, times: number, nowMs: number): TypedRange {
  const { from, to } = toAbsolute(range, nowMs);
  const { startNs, endNs } = resolveRange({ from, to }, nowMs);
  if (startNs === undefined || endNs === undefined) return range;
  const by = (endNs - startNs) * BigInt(times);
  return { from: formatTimestamp(startNs + by), to: formatTimestamp(endNs + by) };
}

/** Reads both ends as they were typed. */
export function readRange(
  { from, to }: TypedRange,
  { zone, nowMs }: { zone: ZoneName; nowMs: number },
): { range?: TypedRange; problems: { from?: string; to?: string } } {
  const [start, end] = [readEnd(from, { zone, nowMs }), readEnd(to, { zone, nowMs })];
  const problems = {
    ...("problem" in start ? { from: start.problem } : {}),
    ...("problem" in end ? { to: end.problem } : {}),
  };
  if ("problem" in start || "problem" in end) return { problems };
  if (start.timeNs !== undefined && end.timeNs !== undefined && start.timeNs > end.timeNs)
    return { problems: { to: "The end lies before the start." } };
  return { range: { from: start.text, to: end.text }, problems: {} };
}

type End = { readonly text: string; readonly timeNs: bigint | undefined } | { readonly problem: string };

function readEnd(text: string, options: { zone: ZoneName; nowMs: number }): End {
  if (text.trim() === "") return { text: "", timeNs: undefined };
  const parsed = parseTime(text, options);
  if ("problem" in parsed) return parsed;
  const kept = isRelative(text) ? text.trim().toLowerCase().replaceAll(" ", "") : formatExact(parsed.timeNs);
  return { text: kept, timeNs: parsed.timeNs };
}

/** Names a range by its ends, without what both share: `2026-11-12 – 2026-11-26 UTC`; undefined for one that is counted from now. */
export function nameRange({ from, to }: TypedRange, zone: ZoneName): string | undefined {
  if (from === "" && to === "") return "All time";
  if (isRelative(from) && to === "") return undefined;
  const [start = "…", end = "now"] = [from, to].map((text) => nameEnd(text, zone));
  const [day, time] = end.split(" ");
  const isSameDay = time !== undefined && start.startsWith(`${day} `);
  return `${start} – ${isSameDay ? time : end} ${zone}`;
}

function nameEnd(text: string, zone: ZoneName): string | undefined {
  if (text === "" || isRelative(text)) return text || undefined;
  const atNs = resolve(text, 0);
  return atNs === undefined
    ? text
    : formatSecond(atNs, zone)
        .replace(/ 00:00:00$/, "")
        .replace(/:00$/, "");
}
