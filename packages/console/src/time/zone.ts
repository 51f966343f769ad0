import { signal } from "@preact/signals";
import { keep, readKept } from "../browser/kept.ts";
import { formatMinute, formatSecond, zoneName } from "./format-time.ts";

export const ZONES = ["UTC", "browser"] as const;
/** In which zone times are shown and typed. */
type Zone = (typeof ZONES)[number];

/** One setting for the picker, the axis and the tables. */
export const zone = signal<Zone>(readKept("zone") === "browser" ? "browser" : "UTC");

export function chooseZone(chosen: Zone): void {
  zone.value = chosen;
  keep("zone", chosen);
}

/** Formats a time to the second in the zone that was chosen, and names it: `2026-04-14 03:00:12 UTC`. */
export function timeText(timeNs: bigint): string {
  const name = zoneName(zone.value);
  return `${formatSecond(timeNs, name)} ${name}`;
}

/** Formats a time to the minute in the zone that was chosen, and names it: `14 Apr 2026 03:00 UTC`, for headings. */
export function minuteText(timeNs: bigint): string {
  const name = zoneName(zone.value);
  return `${formatMinute(timeNs, name)} ${name}`;
}
