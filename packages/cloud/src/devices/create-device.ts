import type { PropertyValues } from "@downlink/protocol";
import type { DeviceModel } from "../db/generated/models.ts";
import { newId } from "../db/ids.ts";
import type { Transaction } from "../db/transaction.ts";
import { writeEvent } from "../outbox/outbox.ts";
import { recordPropertyChanges } from "./record-properties.ts";

interface NewDevice {
  readonly orgId: string;
  readonly projectId: string;
  readonly name: string;
  /** Valid values of custom properties. */
  readonly properties?: PropertyValues;
  readonly enabled?: boolean;
  readonly nowNs: bigint;
}

/** Who looks for a name in order to create it does so one at a time. */
export async function lockDeviceName(tx: Transaction, projectId: string, name: string): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`device ${projectId} ${name}`}, 0))`;
}

/** Creates a device and tells of it in the same transaction. Throws the database's unique violation where the name is taken. */
export async function createDeviceRow(tx: Transaction, device: NewDevice): Promise<DeviceModel> {
  const { orgId, projectId, name, properties = {}, enabled = true, nowNs } = device;
  const row = await tx.device.create({
    data: { id: newId("dev"), orgId, projectId, name, properties, enabled, createdAtNs: nowNs, updatedAtNs: nowNs },
  });
  await recordPropertyChanges(tx, { device: row, before: {}, after: properties, nowNs });
  await writeEvent(tx, {
    type: "device.created",
    orgId,
    projectId,
    occurredAtNs: nowNs,
    payload: { device: { id: row.id } },
  });
  return row;
}
