import type { PropertyValues } from "@downlink/protocol";
import type { DeviceModel, SessionModel } from "../db/generated/models.ts";
import { newId } from "../db/ids.ts";
import type { Transaction } from "../db/transaction.ts";
import { writeEvent } from "../outbox/outbox.ts";

interface NewSession {
  readonly device: Pick<DeviceModel, "id" | "name" | "orgId" | "projectId">;
  readonly key?: string | undefined;
  readonly properties?: PropertyValues;
  readonly nowNs: bigint;
}

/**
 * Creates a session of a device, of whose project it is, and tells of it in the same transaction.
 * Throws the database's unique violation where another session of the project has the key.
 */
export async function createSessionRow(tx: Transaction, session: NewSession): Promise<SessionModel> {
  const { device, key, properties = {}, nowNs } = session;
  const { orgId, projectId } = device;
  const row = await tx.session.create({
    data: {
      id: newId("sess"),
      orgId,
      projectId,
      deviceId: device.id,
      key,
      properties,
      createdAtNs: nowNs,
      updatedAtNs: nowNs,
    },
  });
  const payload = { session: { id: row.id, key, device: { id: device.id, name: device.name } } };
  await writeEvent(tx, { type: "session.created", orgId, projectId, occurredAtNs: nowNs, payload });
  return row;
}
