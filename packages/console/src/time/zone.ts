import { signal } from "@preact/signals";

/** In which zone times are shown and typed. */
export type Zone = "UTC" | "browser";

const KEY = "downlink.zone";

function read(): Zone {
  try {
    return localStorage.getItem(KEY) === "browser" ? "browser" : "UTC";
  } catch {
    return "UTC"; // the browser keeps nothing, as some do in private windows
  }
}

/** One setting for the picker, the axis and the tables. */
export const zone = signal<Zone>(read());

export function chooseZone(chosen: Zone): void {
  zone.value = chosen;
  try {
    localStorage.setItem(KEY, chosen);
  } catch {
    // The choice then holds until the page is closed.
  }
}
