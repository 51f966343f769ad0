import type { PropertyValues } from "@downlink/protocol";
import { writeEvent } from "../../background/outbox/outbox.ts";
import type { DeviceModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import type { Transaction } from "../../db/transaction.ts";
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

/** Transactions that look for a name in order to create it run one at a time. */
export async function lockDeviceName(tx: Transaction, projectId: string, name: string): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`device ${projectId} ${name}`}, 0))`;
}

/** Creates a device and publishes it in the same transaction. Throws the database's unique violation if the name is taken. */
export async function createDeviceRow(tx: Transaction, device: NewDevice): Promise<DeviceModel> {
  const { properties = {}, nowNs } = device;
  const row = await tx.device.create({ data: toRow(device) });
  await recordPropertyChanges(tx, { device: row, before: {}, after: properties, nowNs });
  await publishNew(tx, row);
  return row;
}

/** Finds the project's device of a name, or creates it. If several callers ask at the same moment, one creates it for all. */
export async function findOrCreateDevice(tx: Transaction, device: Omit<NewDevice, "properties">): Promise<DeviceModel> {
  const { projectId, name } = device;
  const found = await tx.device.findUnique({ where: { projectId_name: { projectId, name } } });
  if (found) return found;
  const [row] = await tx.device.createManyAndReturn({ data: [toRow(device)], skipDuplicates: true });
  if (!row) return findOrCreateDevice(tx, device); // another call created it first, and has committed by now
  await publishNew(tx, row);
  return row;
}

function toRow({ orgId, projectId, name, properties = {}, enabled = true, nowNs }: NewDevice) {
  return { id: newId("dev"), orgId, projectId, name, properties, enabled, createdAtNs: nowNs, updatedAtNs: nowNs };
}

async function publishNew(tx: Transaction, { id, orgId, projectId, createdAtNs }: DeviceModel): Promise<void> {
  const payload = { device: { id } };
  await writeEvent(tx, { type: "device.created", orgId, projectId, occurredAtNs: createdAtNs, payload });
}
