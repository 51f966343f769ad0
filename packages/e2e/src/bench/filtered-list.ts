import { formatTimestamp } from "@downlink/protocol";
import { deviceId } from "./dataset.ts";
import { START_NS } from "./seed-sql.ts";

export type Query = Readonly<Record<string, string>>;

/** One list with one filter, in each of its orders. */
export interface FilteredList {
  readonly path: string;
  readonly filter: string;
  readonly query: Query;
  /** `key order`; an empty text is the list's own order. */
  readonly orders: readonly string[];
}

export interface List {
  readonly path: string;
  readonly filters: Readonly<Record<string, Query>>;
  readonly sortKeys?: readonly string[];
}

export const HOUR_NS = 3_600_000_000_000n;
export const QUIET_DEVICE_ID = deviceId(7);

export function lateOffset(rows: number): string {
  return String(Math.floor(rows * 0.9));
}

/** Returns the time so many hours after the first one. */
export function timeOf(hour: bigint): string {
  return formatTimestamp(START_NS + hour * HOUR_NS);
}
