import { parseTimestamp } from "@downlink/protocol";
import { offsetMs, type ZoneName } from "./format-time.ts";

const NS_PER_MS = 1_000_000n;
const UNIT_NS: Readonly<Record<string, bigint>> = {
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  min: 60_000_000_000n,
  h: 3_600_000_000_000n,
  d: 86_400_000_000_000n,
  w: 604_800_000_000_000n,
  y: 31_536_000_000_000_000n,
};

export type ParsedTime = { readonly timeNs: bigint } | { readonly problem: string };

/** A moment, or a distance from now that is kept as it was typed. */
const RELATIVE = /^now(?:\s*([+-])\s*(\d{1,6})\s*([a-z]{1,3}))?$/;
const LOCAL = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?$/;
const UNIX = /^-?\d{1,19}(\.\d{1,9})?$/;

export const TIME_HINT = "2026-04-14 03:00, 2026-04-14T03:00:12.5Z, 1776135612 (Unix), or now-7d";

/**
 * Reads a typed time: RFC 3339, a date with or without a time in the zone that the page shows, Unix seconds (or milli-, micro- and
 * nanoseconds, told apart by their size), or a distance from now.
 */
export function parseTime(text: string, { zone, nowMs }: { zone: ZoneName; nowMs: number }): ParsedTime {
  const given = text.trim();
  if (given === "") return { problem: `Type a time, such as ${TIME_HINT}.` };
  const timeNs =
    parseRelative(given.toLowerCase(), nowMs) ?? parseUnix(given) ?? parseLocal(given, zone) ?? parseTimestamp(given);
  if (timeNs === undefined) return { problem: `“${given}” is not a time that is understood here. Try ${TIME_HINT}.` };
  return { timeNs };
}

export function isRelative(text: string): boolean {
  return parseRelative(text.trim().toLowerCase(), 0) !== undefined;
}

function parseRelative(text: string, nowMs: number): bigint | undefined {
  const match = RELATIVE.exec(text);
  if (!match) return undefined;
  const nowNs = BigInt(Math.trunc(nowMs)) * NS_PER_MS;
  const [, sign, count, unit] = match;
  if (count === undefined) return nowNs;
  const unitNs = UNIT_NS[unit!];
  if (unitNs === undefined) return undefined;
  const distance = BigInt(count) * unitNs;
  return sign === "-" ? nowNs - distance : nowNs + distance;
}

/** Seconds have at most 11 digits until the year 5138; with 14, 17 and 20 digits the same holds for the smaller units. */
function parseUnix(text: string): bigint | undefined {
  if (!UNIX.test(text)) return undefined;
  const [whole = "", fraction = ""] = text.split(".");
  const digits = whole.replace("-", "").length;
  if (digits === 4) return undefined; // rather a year
  const unitNs = [
    [11, 1_000_000_000n],
    [14, 1_000_000n],
    [17, 1000n],
  ].find(([most]) => digits <= Number(most))?.[1];
  const perUnit = BigInt(unitNs ?? 1n);
  const part = (BigInt(fraction.padEnd(9, "0").slice(0, 9)) * perUnit) / 1_000_000_000n;
  const timeNs = BigInt(whole) * perUnit + (whole.startsWith("-") ? -part : part);
  return BigInt.asIntN(64, timeNs) === timeNs ? timeNs : undefined;
}

function parseLocal(text: string, zone: ZoneName): bigint | undefined {
  const match = LOCAL.exec(text);
  if (!match) return undefined;
  const [, date, hour = "00", minute = "00", second = "00", fraction = ""] = match;
  const asUtc = parseTimestamp(`${date}T${hour}:${minute}:${second}Z`);
  if (asUtc === undefined) return undefined;
  return asUtc - offsetNs(Number(asUtc / NS_PER_MS), zone) + BigInt(fraction.padEnd(9, "0"));
}

/**
 * Returns how far the zone's clock is ahead of UTC when it shows this time. In the hour that a zone leaves out in spring, and in the one
 * that it has twice in autumn, the offset of before the change is taken.
 */
function offsetNs(shownMs: number, zone: ZoneName): bigint {
  const before = offsetMs(shownMs - 86_400_000, zone);
  const after = offsetMs(shownMs + 86_400_000, zone);
  const isBefore = before === after || offsetMs(shownMs - before, zone) === before;
  const aheadMs = isBefore || offsetMs(shownMs - after, zone) !== after ? before : after;
  return BigInt(aheadMs) * NS_PER_MS;
}
