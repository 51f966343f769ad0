import type { PropertyValue } from "@downlink/protocol";
import { newId } from "../../db/ids.ts";
import type { Transaction } from "../../db/transaction.ts";
import type { OverlayPlan, Span } from "./overlay.ts";

export interface NewInterval extends Span {
  readonly key: string;
  readonly value: PropertyValue;
}

interface Planned extends Omit<OverlayPlan, "inserted"> {
  readonly inserted: readonly NewInterval[];
}

/** Applies a plan to a device's property history. The caller has locked the device's row. */
export async function writeIntervals(
  tx: Transaction,
  device: { readonly id: string; readonly orgId: string },
  { deletedIds, trimmed, inserted }: Planned,
): Promise<void> {
  if (deletedIds.length > 0)
    await tx.$executeRaw`DELETE FROM "DevicePropertyInterval" WHERE id = ANY(${[...deletedIds]})`;
  for (const { id, startNs, endNs } of trimmed)
    await tx.devicePropertyInterval.update({ where: { id }, data: { startNs, endNs } });
  if (inserted.length === 0) return;
  const owner = { orgId: device.orgId, deviceId: device.id };
  await tx.devicePropertyInterval.createMany({
    data: inserted.map((interval) => ({ ...interval, ...owner, id: newId("dpi") })),
  });
}
