import { formatTimestamp } from "@downlink/protocol";

const NS_PER_MS = 1_000_000n;

/** The name of a zone as `Intl` knows it. */
export type ZoneName = string;

export function zoneName(zone: "UTC" | "browser"): ZoneName {
  return zone === "UTC" ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Rounds down, also before 1970. */
export function toMs(timeNs: bigint): number {
  const ms = timeNs / NS_PER_MS;
  return Number(timeNs % NS_PER_MS < 0n ? ms - 1n : ms);
}

/** Formats a time to the second: `2026-04-14 03:00:12`, in a zone that stands beside it on the page. */
export function formatSecond(timeNs: bigint, zone: ZoneName): string {
  const { year, month, day, hour, minute, second } = partsOf(toMs(timeNs), zone);
  return `${year}-${month}-${day} ${hour}:${minute}:${second}`;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Formats a day as people say it: `14 Apr 2026`, of the calendar of a zone. */
export function formatDay(timeNs: bigint, zone: ZoneName): string {
  const { year, month, day } = partsOf(toMs(timeNs), zone);
  return `${Number(day)} ${MONTHS[Number(month) - 1]} ${year}`;
}

/** Formats a time to the minute as people say it: `14 Apr 2026 03:00`, in a zone that stands beside it on the page. */
export function formatMinute(timeNs: bigint, zone: ZoneName): string {
  return `${formatDay(timeNs, zone)} ${clockOf(timeNs, zone)}`;
}

/** Formats the time of day of what is shown beside another time: `03:00`, or `14 Apr 2026 03:00` where that is of another day. */
export function formatBeside(timeNs: bigint, otherNs: bigint, zone: ZoneName): string {
  const isSameDay = formatDay(timeNs, zone) === formatDay(otherNs, zone);
  return isSameDay ? clockOf(timeNs, zone) : formatMinute(timeNs, zone);
}

function clockOf(timeNs: bigint, zone: ZoneName): string {
  const { hour, minute } = partsOf(toMs(timeNs), zone);
  return `${hour}:${minute}`;
}

/** Formats a time to the nanosecond, with as many digits as needed: for copying, and where a pointer rests. */
export function formatExact(timeNs: bigint): string {
  return formatTimestamp(timeNs);
}

interface Parts {
  readonly year: string;
  readonly month: string;
  readonly day: string;
  readonly hour: string;
  readonly minute: string;
  readonly second: string;
}

const formats = new Map<ZoneName, Intl.DateTimeFormat>();

/** Returns the time and the date that a clock of that zone shows. */
export function partsOf(timeMs: number, zone: ZoneName): Parts {
  let format = formats.get(zone);
  if (!format) {
    const digits = { month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit" } as const;
    format = new Intl.DateTimeFormat("en", {
      timeZone: zone,
      calendar: "iso8601",
      hourCycle: "h23",
      year: "numeric",
      ...digits,
    });
    formats.set(zone, format);
  }
  const found = Object.fromEntries(format.formatToParts(timeMs).map(({ type, value }) => [type, value]));
  return { ...(found as unknown as Parts), year: String(found.year).padStart(4, "0") };
}

/** Returns how far the zone's clock is ahead of UTC. */
export function offsetMs(timeMs: number, zone: ZoneName): number {
  if (zone === "UTC") return 0;
  const { year, month, day, hour, minute, second } = partsOf(timeMs, zone);
  return Date.UTC(+year, +month - 1, +day, +hour, +minute, +second) - Math.floor(timeMs / 1000) * 1000;
}

const UNITS: readonly (readonly [seconds: number, name: string])[] = [
  [86_400, "d"],
  [3600, "h"],
  [60, "min"],
  [1, "s"],
];

/** Formats the two largest units that say something: `12 min`, `1 h 20 min`, `3.5 s`, `20 ms`. */
export function formatDuration(durationNs: bigint): string {
  const seconds = Number(durationNs) / 1e9;
  if (seconds < 0) return `−${formatDuration(-durationNs)}`;
  if (durationNs === 0n) return "0 s";
  if (seconds < 1e-6) return `${durationNs} ns`;
  if (seconds < 1e-3) return `${trim(seconds * 1e6)} µs`;
  if (seconds < 1) return `${trim(seconds * 1000)} ms`;
  if (seconds < 10) return `${trim(seconds)} s`;
  return twoUnits(Math.round(seconds));
}

function twoUnits(seconds: number): string {
  const at = UNITS.findIndex(([unit]) => seconds >= unit);
  const [unit, name] = UNITS[at]!;
  const whole = Math.floor(seconds / unit);
  const next = UNITS[at + 1];
  const rest = next ? Math.floor((seconds % unit) / next[0]) : 0;
  return rest === 0 ? `${whole} ${name}` : `${whole} ${name} ${rest} ${next![1]}`;
}

function trim(value: number): string {
  return String(Number(value.toPrecision(3)));
}

/** Formats `9 days ago`, `in 2 weeks`; `now` for less than five seconds. */
export function formatAge(timeNs: bigint, nowMs: number): string {
  const seconds = (toMs(timeNs) - nowMs) / 1000;
  if (Math.abs(seconds) < 5) return "now";
  const { unit, name } = AGES.find(({ least, unit: one }) => Math.abs(seconds) >= (least ?? one)) ?? AGES.at(-1)!;
  return new Intl.RelativeTimeFormat("en", { numeric: "always" }).format(Math.trunc(seconds / unit), name);
}

/** Up to two weeks are counted in days. */
const AGES: readonly { unit: number; least?: number; name: Intl.RelativeTimeFormatUnit }[] = [
  { unit: 365 * 86_400, name: "year" },
  { unit: 30 * 86_400, least: 60 * 86_400, name: "month" },
  { unit: 7 * 86_400, least: 14 * 86_400, name: "week" },
  { unit: 86_400, name: "day" },
  { unit: 3600, name: "hour" },
  { unit: 60, name: "minute" },
  { unit: 1, name: "second" },
];
