import { partOf, type Value } from "./value.ts";

/** In degrees of WGS 84. */
export interface Position {
  readonly latitude: number;
  readonly longitude: number;
}

/** The types of messages with a position, whatever package they are of: ROS and Foxglove. */
export const POSITION_TYPES = /(^|[./])(NavSatFix|LocationFix)$/;

/** Returns the position that a message states, or undefined where it says that there is none. */
export function readPosition(message: Value): Position | undefined {
  const latitude = partOf(message, "latitude");
  const longitude = partOf(message, "longitude");
  // NavSatStatus: -1 is "unable to fix position".
  const status = partOf(partOf(message, "status"), "status");
  if (typeof status === "number" && status < 0) return undefined;
  if (!isWithin(latitude, 90) || !isWithin(longitude, 180)) return undefined;
  return { latitude, longitude };
}

function isWithin(value: Value | undefined, limit: number): value is number {
  return typeof value === "number" && Math.abs(value) <= limit;
}
