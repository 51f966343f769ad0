import type { DeviceModel, SessionModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import { findOrCreateDevice } from "../../fleet/devices/create-device.ts";
import { findOrCreateSession } from "../../fleet/sessions/create-session.ts";
import { holdSession } from "../../fleet/sessions/find-session.ts";
import type { Manifest } from "../../keeping/manifests/manifest.ts";
import { holdSite } from "../../organization/projects/find-site.ts";
import { primarySiteOf } from "../../organization/projects/primary-site.ts";

/** The owners of an upload, according to the present rows. */
export interface Owners {
  readonly projectId: string;
  /** The primary site that holds the bytes. */
  readonly siteId: string;
  readonly edgeSiteId: string | null;
  readonly device: DeviceModel | undefined;
  readonly session: SessionModel | undefined;
}

/**
 * Finds what a manifest names, and creates with the same id what the database has lost, because acknowledged bytes must not be lost only
 * because their project or device is younger than the backup. Returns undefined if the organization does not exist or the project was
 * deleted on purpose. If the device was deleted on purpose, its data is kept without it, as it was then.
 */
export async function findOwners(tx: Transaction, manifest: Manifest, nowNs: bigint): Promise<Owners | undefined> {
  const { orgId } = manifest;
  if (!(await tx.organization.findUnique({ where: { id: orgId } }))) return undefined;
  const projectId = await findProject(tx, manifest, nowNs);
  if (projectId === undefined) return undefined;
  const device = await findDevice(tx, { ...manifest, projectId }, nowNs);
  return {
    projectId,
    siteId: (await findSite(tx, orgId, manifest.siteId)) ?? (await primarySiteOf(tx, orgId)).id,
    edgeSiteId: (await findSite(tx, orgId, manifest.edge?.siteId)) ?? null,
    device,
    session: device && (await findSession(tx, manifest, { device, nowNs })),
  };
}

async function findSite(tx: Transaction, orgId: string, id: string | undefined): Promise<string | undefined> {
  if (id === undefined || !(await holdSite(tx, id))) return undefined;
  return (await tx.site.findFirst({ where: { id, orgId }, select: { id: true } }))?.id;
}

/** Finds the project, or creates it again. An upload without one is older than the rule that each upload has a project. */
async function findProject(tx: Transaction, { orgId, projectId: id }: Manifest, nowNs: bigint) {
  const eldest = { where: { orgId }, orderBy: { createdAtNs: "asc" } } as const;
  if (id === undefined) return (await tx.project.findFirst(eldest))?.id;
  if (await tx.project.findFirst({ where: { id, orgId } })) return id;
  if (await isDeleted(tx, "Project", id)) return undefined;
  return (await tx.project.create({ data: { id, orgId, name: id, createdAtNs: nowNs } })).id;
}

/** Finds the device by its id, or by its name if only the file named it or if it was created again since. */
async function findDevice(
  tx: Transaction,
  { orgId, projectId, deviceId: id, deviceName: name }: Manifest & { projectId: string },
  nowNs: bigint,
): Promise<DeviceModel | undefined> {
  if (id === undefined && name === undefined) return undefined;
  const byId = id && (await tx.device.findFirst({ where: { id, orgId, projectId } }));
  const found = byId || (name && (await tx.device.findFirst({ where: { name, orgId, projectId } })));
  if (found) return found;
  if (id !== undefined && (await isDeleted(tx, "Device", id))) return undefined;
  if (id === undefined) return findOrCreateDevice(tx, { orgId, projectId, name: name!, nowNs });
  const row = { id, orgId, projectId, name: name ?? id, createdAtNs: nowNs, updatedAtNs: nowNs };
  return tx.device.create({ data: row });
}

interface SessionOf {
  readonly device: DeviceModel;
  readonly nowNs: bigint;
}

async function findSession(
  tx: Transaction,
  { sessionId: id, sessionKey: key }: Manifest,
  { device, nowNs }: SessionOf,
): Promise<SessionModel | undefined> {
  if (id === undefined && key === undefined) return undefined;
  const session = await (id === undefined
    ? findOrCreateSession(tx, { device, key: key!, nowNs })
    : findOrRestoreSession(tx, id, { device, nowNs }));
  return session?.deviceId === device.id ? session : undefined;
}

/** Returns undefined if the session now belongs to another project. A session that is created again has lost its key. */
async function findOrRestoreSession(
  tx: Transaction,
  id: string,
  { device, nowNs }: SessionOf,
): Promise<SessionModel | undefined> {
  const { orgId, projectId } = device;
  const found = await holdSession(tx, { projectId, id });
  if (found || (await tx.session.findUnique({ where: { id } }))) return found;
  const times = { createdAtNs: nowNs, updatedAtNs: nowNs };
  return tx.session.create({ data: { id, orgId, projectId, deviceId: device.id, ...times } });
}

/** Returns whether it was deleted according to the ledger; then it is not created again. */
async function isDeleted(tx: Transaction, table: "Project" | "Device", id: string): Promise<boolean> {
  return (await tx.ledgerEntry.count({ where: { kind: `${table}.delete`, subject: id } })) > 0;
}
