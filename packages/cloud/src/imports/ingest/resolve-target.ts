// The session of an import is the one that the request names, else the one that the edge recording has, else the one that the file names,
// so that data which is deleted and imported again is back where its owner had put it.

import { DeviceName, RecordingKey, SessionKey } from "@downlink/protocol";
import type { RecordingIdentity } from "@downlink/recordings";
import type { DeviceModel, ImportRequestModel, SessionModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import { findOrCreateDevice } from "../../fleet/devices/create-device.ts";
import { findOrCreateSession } from "../../fleet/sessions/create-session.ts";
import { holdSession } from "../../fleet/sessions/find-session.ts";
import { lockRecording } from "../../import-life/lock-recording.ts";
import { IngestError } from "./ingest-failure.ts";

/** The owner of the recording, as far as it exists already. */
export interface NamedTarget {
  readonly projectId: string;
  readonly device: DeviceModel | undefined;
  /** The name of a device to create. */
  readonly newDeviceName: string | undefined;
  readonly key: string | undefined;
}

export interface Target {
  readonly projectId: string;
  readonly device: DeviceModel | undefined;
  readonly key: string | undefined;
  readonly sessionId: string | undefined;
}

export interface Source {
  readonly request: ImportRequestModel;
  /** The identity that the file itself states. */
  readonly identity: RecordingIdentity;
  readonly nowNs: bigint;
}

/** Explicit fields of the request override the file's own metadata. This creates nothing. spec: wire contract §4 */
export async function nameTarget(tx: Transaction, source: Source): Promise<NamedTarget> {
  const { request, identity } = source;
  const projectId = await findProject(tx, source);
  const key = request.key ?? identity.key;
  if (key !== undefined && !RecordingKey.safeParse(key).success)
    throw new IngestError("InvalidKey", "the recording's key is too long, or cannot be stored");
  return { projectId, key, ...(await nameDevice(tx, source, projectId)) };
}

/** Creates the device and the session that are missing. */
export async function resolveTarget(tx: Transaction, source: Source, named: NamedTarget): Promise<Target> {
  const { projectId, key, newDeviceName: name } = named;
  const { request, nowNs } = source;
  const device = name ? await findOrCreateDevice(tx, { orgId: request.orgId, projectId, name, nowNs }) : named.device;
  const session = await resolveSession(tx, { ...source, projectId, device });
  return { projectId, device, key, sessionId: session?.id };
}

async function findProject(tx: Transaction, { request, identity }: Source): Promise<string> {
  if (request.source === "bucket" || request.projectId === null) return findProjectOfObject(tx, request, identity);
  return request.projectId;
}

async function requireProject(tx: Transaction, orgId: string, id: string): Promise<string> {
  const found = await tx.project.findFirst({ where: { id, orgId } });
  if (!found) throw new IngestError("ProjectNotFound", `Project not found: ${id}`);
  return found.id;
}

function newNoProjectError(): IngestError {
  return new IngestError("ProjectRequired", "neither the request nor the file names a project");
}

/**
 * An object in a customer's bucket, or a file in the inbox of a self-hosted site, is of the project that is named, else of its device's,
 * else of the only one that its site is for. The named project was not checked before, and a site is for its own projects alone.
 */
async function findProjectOfObject(
  tx: Transaction,
  { orgId, siteId, ...request }: ImportRequestModel,
  identity: RecordingIdentity,
): Promise<string> {
  // A process of a former version noted a claim as the project itself.
  const named = request.claimedProjectId ?? request.projectId ?? identity.projectId;
  const deviceId = request.deviceId ?? (request.deviceName === null ? identity.deviceId : undefined);
  const device = deviceId && !named ? await tx.device.findFirst({ where: { id: deviceId, orgId } }) : undefined;
  const { projectIds } = await tx.site.findUniqueOrThrow({ where: { id: siteId }, select: { projectIds: true } });
  const found = named ?? device?.projectId ?? (await findOnly(tx, orgId, projectIds));
  if (!found) throw newNoProjectError();
  const projectId = await requireProject(tx, orgId, found);
  if (projectIds.length === 0 || projectIds.includes(projectId)) return projectId;
  throw new IngestError("ProjectNotOfSite", `the site is not for project ${projectId}`);
}

async function findOnly(tx: Transaction, orgId: string, projectIds: readonly string[]): Promise<string | undefined> {
  const id = projectIds.length === 0 ? {} : { id: { in: [...projectIds] } };
  const [only, another] = await tx.project.findMany({ where: { orgId, ...id }, select: { id: true }, take: 2 });
  return another ? undefined : only?.id;
}

async function nameDevice(
  tx: Transaction,
  { request, identity }: Source,
  projectId: string,
): Promise<Pick<NamedTarget, "device" | "newDeviceName">> {
  const { orgId } = request;
  const deviceId = request.deviceId ?? (request.deviceName === null ? identity.deviceId : undefined);
  if (deviceId) {
    const device = await tx.device.findFirst({ where: { id: deviceId, orgId, projectId } });
    if (!device) throw new IngestError("DeviceNotFound", `Device not found: ${deviceId}`);
    return { device, newDeviceName: undefined };
  }
  const name = request.deviceName ?? identity.deviceName;
  if (!name) return { device: undefined, newDeviceName: undefined };
  const device = await tx.device.findFirst({ where: { projectId, orgId, name } });
  if (device) return { device, newDeviceName: undefined };
  if (DeviceName.safeParse(name).success) return { device: undefined, newDeviceName: name };
  throw new IngestError(
    "InvalidDeviceName",
    `letters, digits, and _ . - only, at most 100, make a device name: "${name}"`,
  );
}

interface SessionSource extends Source {
  readonly projectId: string;
  readonly device: DeviceModel | undefined;
}

/**
 * Returns the session that the request names, else the one that an edge recording has already, else the one that the file names. A key that
 * no session of the project has creates one; a deleted session does not count.
 */
async function resolveSession(tx: Transaction, source: SessionSource): Promise<SessionModel | undefined> {
  const { projectId, device, nowNs } = source;
  const { id, key } = await nameSession(tx, source);
  if (!id && !key) return undefined;
  if (!device) throw new IngestError("SessionNeedsDevice", "a recording in a session needs a device");
  const session = id
    ? await holdSession(tx, { id, projectId })
    : await findOrCreateSession(tx, { device, key: key!, nowNs });
  if (!session) throw new IngestError("SessionNotFound", `Session not found: ${id}`);
  if (session.deviceId !== device.id)
    throw new IngestError("SessionOfOtherDevice", `session ${session.id} belongs to another device`);
  return session;
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
  throw new IngestError("InvalidSessionKey", "the session's key is too long, or cannot be stored");
}
