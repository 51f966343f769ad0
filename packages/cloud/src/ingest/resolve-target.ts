import { DeviceName } from "@downlink/protocol";
import type { RecordingIdentity } from "@downlink/recordings";
import type { DeviceModel, ImportRequestModel, SessionModel } from "../db/generated/models.ts";
import { newId } from "../db/ids.ts";
import type { Transaction } from "../db/transaction.ts";
import { createDeviceRow } from "../devices/create-device.ts";
import { writeEvent } from "../outbox/outbox.ts";
import { IngestFailure } from "./ingest-failure.ts";

export interface Target {
  readonly projectId: string;
  readonly deviceId: string | undefined;
  readonly key: string | undefined;
  readonly sessionId: string | undefined;
}

interface Source {
  readonly request: ImportRequestModel;
  /** What the file says of itself. */
  readonly identity: RecordingIdentity;
  readonly nowNs: bigint;
}

/** Whose recording it is: explicit fields of the request beat the file's own metadata. spec: wire contract §4 */
export async function resolveTarget(tx: Transaction, source: Source): Promise<Target> {
  const { request, identity } = source;
  const projectId = request.projectId ?? identity.projectId;
  if (!projectId) throw new IngestFailure("ProjectRequired", "neither the request nor the file names a project");
  const device = await resolveDevice(tx, source, projectId);
  const session = await resolveSession(tx, { ...source, projectId, device });
  return { projectId, deviceId: device?.id, key: request.key ?? identity.key, sessionId: session?.id };
}

async function resolveDevice(
  tx: Transaction,
  { request, identity, nowNs }: Source,
  projectId: string,
): Promise<DeviceModel | undefined> {
  const deviceId = request.deviceId ?? (request.deviceName === null ? identity.deviceId : undefined);
  if (deviceId) {
    const found = await tx.device.findFirst({ where: { id: deviceId, orgId: request.orgId, projectId } });
    if (!found) throw new IngestFailure("DeviceNotFound", `Device not found: ${deviceId}`);
    return found;
  }
  const name = request.deviceName ?? identity.deviceName;
  if (!name) return undefined;
  const found = await tx.device.findFirst({ where: { projectId, orgId: request.orgId, name } });
  if (found) return found;
  if (!DeviceName.safeParse(name).success)
    throw new IngestFailure(
      "InvalidDeviceName",
      `"${name}" is no device name: letters, digits, and _ . - only, at most 100`,
    );
  return createDeviceRow(tx, { orgId: request.orgId, projectId, name, nowNs });
}

interface SessionSource extends Source {
  readonly projectId: string;
  readonly device: DeviceModel | undefined;
}

async function resolveSession(tx: Transaction, source: SessionSource): Promise<SessionModel | undefined> {
  const { request, identity, projectId, device } = source;
  const key = request.sessionKey ?? (request.sessionId === null ? identity.sessionKey : undefined);
  if (!request.sessionId && !key) return undefined;
  if (!device) throw new IngestFailure("SessionNeedsDevice", "a recording in a session needs a device");
  const where = request.sessionId ? { id: request.sessionId, projectId } : { key: key!, projectId };
  const found = await tx.session.findFirst({ where });
  if (!found && request.sessionId)
    throw new IngestFailure("SessionNotFound", `Session not found: ${request.sessionId}`);
  if (found && found.deviceId !== device.id)
    throw new IngestFailure("SessionOfOtherDevice", `session ${found.id} belongs to another device`);
  return found ?? createSession(tx, { ...source, device, key: key! });
}

async function createSession(
  tx: Transaction,
  source: Source & { projectId: string; device: DeviceModel; key: string },
): Promise<SessionModel> {
  const { request, projectId, device, key, nowNs } = source;
  const session = await tx.session.create({
    data: {
      id: newId("sess"),
      orgId: request.orgId,
      projectId,
      deviceId: device.id,
      key,
      createdAtNs: nowNs,
      updatedAtNs: nowNs,
    },
  });
  const payload = { session: { id: session.id, key, device: { id: device.id, name: device.name } } };
  await writeEvent(tx, { type: "session.created", orgId: request.orgId, projectId, occurredAtNs: nowNs, payload });
  return session;
}
