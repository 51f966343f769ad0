import type { PropertyValues } from "@downlink/protocol";
import type { Transaction } from "../../db/transaction.ts";
import { writeIntervals } from "./write-intervals.ts";

interface Recorded {
  readonly device: { readonly id: string; readonly orgId: string };
  readonly before: PropertyValues;
  readonly after: PropertyValues;
  readonly nowNs: bigint;
}

interface LastInterval {
  readonly id: string;
  readonly key: string;
  readonly startNs: bigint;
  readonly endNs: bigint | null;
}

/**
 * Writes the history of a device's change from `before` to `after`: the open intervals of the keys that differ are closed now, and new ones
 * are opened. The caller has locked the device's row, or is creating it.
 */
export async function recordPropertyChanges(tx: Transaction, change: Recorded): Promise<void> {
  const { device, before, after, nowNs } = change;
  const keys = findChangedKeys(before, after);
  if (keys.length === 0) return;
  const lastByKey = new Map((await lastIntervals(tx, device.id, keys)).map((last) => [last.key, last]));
  const open = [...lastByKey.values()].filter(({ endNs }) => endNs === null);
  const opened = keys.filter((key) => Object.hasOwn(after, key));
  const changeNsOf = (last: LastInterval | undefined) => changeTime(last, nowNs);
  await writeIntervals(tx, device, {
    deletedIds: [],
    trimmed: open.map((last) => ({ id: last.id, startNs: last.startNs, endNs: changeNsOf(last) })),
    inserted: opened.map((key) => ({ key, value: after[key]!, startNs: changeNsOf(lastByKey.get(key)), endNs: null })),
  });
}

/** Returns the keys whose values differ, or that only one of the two has. */
export function findChangedKeys(before: PropertyValues, after: PropertyValues): string[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]));
}

/**
 * Returns now, or the moment after the last value began or ended, so that each value was in effect for some time even if the clock did not
 * move on.
 */
function changeTime(last: LastInterval | undefined, nowNs: bigint): bigint {
  if (!last) return nowNs;
  const earliestNs = last.endNs ?? last.startNs + 1n;
  return nowNs > earliestNs ? nowNs : earliestNs;
}

function lastIntervals(tx: Transaction, deviceId: string, keys: readonly string[]): Promise<LastInterval[]> {
  return tx.$queryRaw<LastInterval[]>`
    SELECT last.* FROM unnest(${[...keys]}::text[]) AS wanted(key) CROSS JOIN LATERAL (
      SELECT i.id, i.key, i."startNs", i."endNs" FROM "DevicePropertyInterval" i
      WHERE i."deviceId" = ${deviceId} AND i.key = wanted.key
      ORDER BY i."startNs" DESC LIMIT 1) AS last`;
}
