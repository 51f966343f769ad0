import { DeviceName, SessionKey } from "@downlink/protocol";
import type { RecordingIdentity } from "@downlink/recordings";
import type { DeviceModel, ImportRequestModel, SessionModel } from "../db/generated/models.ts";
import type { Transaction } from "../db/transaction.ts";
import { createDeviceRow } from "../devices/create-device.ts";
import { lockRecording } from "../recordings/lock-recording.ts";
import { createSessionRow } from "../sessions/create-session.ts";
import { holdSession } from "../sessions/find-session.ts";
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

/**
 * The session that the request names, else the one that an edge recording has already, else the one that the file names.
 * A key that no session of the project has makes one; a deleted session has none.
 */
async function resolveSession(tx: Transaction, source: SessionSource): Promise<SessionModel | undefined> {
  const { projectId, device, nowNs } = source;
  const { id, key } = await nameSession(tx, source);
  if (!id && !key) return undefined;
  if (!device) throw new IngestFailure("SessionNeedsDevice", "a recording in a session needs a device");
  const found = await holdSession(tx, id ? { id, projectId } : { key: key!, projectId });
  if (!found && id) throw new IngestFailure("SessionNotFound", `Session not found: ${id}`);
  if (found && found.deviceId !== device.id)
    throw new IngestFailure("SessionOfOtherDevice", `session ${found.id} belongs to another device`);
  return found ?? createSessionRow(tx, { device, key, nowNs });
}

async function nameSession(tx: Transaction, { request, identity }: Source): Promise<{ id?: string; key?: string }> {
  if (request.sessionId) return { id: request.sessionId };
  if (request.sessionKey) return { key: checkKey(request.sessionKey) };
  const recording = request.recordingId === null ? undefined : await lockRecording(tx, request.recordingId);
  if (recording?.sessionId) return { id: recording.sessionId };
  return identity.sessionKey === undefined ? {} : { key: checkKey(identity.sessionKey) };
}

function checkKey(key: string): string {
  if (SessionKey.safeParse(key).success) return key;
  throw new IngestFailure("InvalidSessionKey", "the session's key is too long, or cannot be stored");
}
