import { signal } from "@preact/signals";
import { keep, readKept } from "../browser/kept.ts";

export const ZONES = ["UTC", "browser"] as const;
/** In which zone times are shown and typed. */
type Zone = (typeof ZONES)[number];

/** One setting for the picker, the axis and the tables. */
export const zone = signal<Zone>(readKept("zone") === "browser" ? "browser" : "UTC");

export function chooseZone(chosen: Zone): void {
  zone.value = chosen;
  keep("zone", chosen);
}
