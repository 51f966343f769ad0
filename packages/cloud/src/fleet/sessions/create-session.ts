import type { PropertyValues } from "@downlink/protocol";
import { writeEvent } from "../../background/outbox/outbox.ts";
import type { DeviceModel, SessionModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import type { Transaction } from "../../db/transaction.ts";
import { holdSession } from "./find-session.ts";

interface NewSession {
  readonly device: Pick<DeviceModel, "id" | "name" | "orgId" | "projectId">;
  readonly key?: string | undefined;
  readonly properties?: PropertyValues;
  readonly nowNs: bigint;
}

/**
 * Creates a session in the project of its device, and publishes it in the same transaction. Throws the database's unique violation if
 * another session of the project has the key.
 */
export async function createSessionRow(tx: Transaction, session: NewSession): Promise<SessionModel> {
  const row = await tx.session.create({ data: toRow(session) });
  await publishNew(tx, row, session);
  return row;
}

/**
 * Finds the session of the device's project that has the key, whatever its device, and holds it as {@link holdSession} does; creates it for
 * the device if none has the key. If several callers ask at the same moment, one creates it for all.
 */
export async function findOrCreateSession(
  tx: Transaction,
  session: NewSession & { readonly key: string },
): Promise<SessionModel> {
  const { device, key } = session;
  const found = await holdSession(tx, { projectId: device.projectId, key });
  if (found) return found;
  const [row] = await tx.session.createManyAndReturn({ data: [toRow(session)], skipDuplicates: true });
  if (!row) return findOrCreateSession(tx, session); // another call created it first, and has committed by now
  await publishNew(tx, row, session);
  return row;
}

function toRow({ device, key, properties = {}, nowNs }: NewSession) {
  const owner = { orgId: device.orgId, projectId: device.projectId, deviceId: device.id };
  return { id: newId("sess"), ...owner, key, properties, createdAtNs: nowNs, updatedAtNs: nowNs };
}

async function publishNew(tx: Transaction, row: SessionModel, { device, nowNs }: NewSession): Promise<void> {
  const { id, orgId, projectId, key } = row;
  const payload = { session: { id, key: key ?? undefined, device: { id: device.id, name: device.name } } };
  await writeEvent(tx, { type: "session.created", orgId, projectId, occurredAtNs: nowNs, payload });
}
