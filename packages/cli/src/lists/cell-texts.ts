import { formatTimestamp, type PropertyValue } from "@downlink/protocol";
import { formatDuration } from "@downlink/terminal/amounts";

/** Returns a time in whole seconds. */
export function timeText(timeNs: bigint | undefined): string {
  return timeNs === undefined ? "-" : formatTimestamp(timeNs).replace(/\.\d+Z$/, "Z");
}

export function lengthText(startNs: bigint, endNs: bigint): string {
  return formatDuration(Number(endNs - startNs) / 1e9);
}

/** Returns `key=value` of each property, or of each text of metadata. */
export function propertiesText(properties: Readonly<Record<string, PropertyValue>>): string {
  return Object.entries(properties)
    .map(([key, value]) => `${key}=${Array.isArray(value) ? value.join("|") : value}`)
    .join(", ");
}
