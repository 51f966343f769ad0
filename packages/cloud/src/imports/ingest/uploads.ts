// Devices and sessions of uploads are created with the link, not once the file is imported, so that a list by their names does not answer
// 404 in between; a link that is never used leaves them. The first caller creates them for all (`findOrCreateDevice`,
// `findOrCreateSession`). If only the file names a device or session, or a session was deleted meanwhile, it is created at the import.

import type { api, Input, Output } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { quotasOf, requireRoomWithin } from "../../calls/quotas/require-room.ts";
import type { Agains } from "../../calls/serve/again.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import type { Complete } from "../../core/complete.ts";
import { invalid, throwNotFound } from "../../core/errors.ts";
import type { DeviceModel, SessionModel } from "../../db/generated/models.ts";
import { joinOneConnection } from "../../db/one-connection.ts";
import type { Transaction } from "../../db/transaction.ts";
import { findOrCreateDevice } from "../../fleet/devices/create-device.ts";
import { holdDevice, lookUpDevice } from "../../fleet/devices/find-device.ts";
import { findOrCreateSession } from "../../fleet/sessions/create-session.ts";
import { holdSession } from "../../fleet/sessions/find-session.ts";
import { resolveProject, visibleTo } from "../../organization/projects/find-project.ts";
import { chooseSite } from "../../organization/projects/primary-site.ts";
import { findServingSite, type ServingSite } from "../../store/site-keys/find-serving-site.ts";
import { insertUploadRequest } from "./insert-upload-request.ts";
import { siteUploadLink, uploadLink } from "./upload-link.ts";

type Contract = typeof api.uploads;
type Body = Input<Contract["create"]>;

export const uploads: Handlers<Contract> = { create: createUploadLink };
export const uploadsAgain: Agains<Contract> = { create: linkAgain };

/**
 * Makes a link that takes one file, once. Names and ids are checked now, so that no client uploads 40 GB only to learn of a typing error;
 * the missing device and session are created now, so that lists by their names do not answer 404 in between.
 */
async function createUploadLink(ctx: Ctx, body: Body): Promise<Complete<Output<Contract["create"]>>> {
  const { orgId } = ctx.caller;
  const target = await findUploadTarget(ctx, body);
  const serving = target.site.type === "self-hosted" ? await findServing(ctx, target.site.id) : undefined; // before anything is created
  if (!serving) await requireRoomWithin(ctx.db.prisma, await quotasOf(ctx.db, orgId), { orgId, fileBytes: 1n });
  const request = await requestUpload(ctx, body, target);
  return { ...(await linkTo(ctx, serving, request)), requestId: request.id };
}

/** Finds where a file of a client belongs, and which site takes it. It makes nothing. */
export async function findUploadTarget(ctx: Ctx, body: Body) {
  const found = await findTarget(ctx, body);
  return { ...found, site: await chooseSite(ctx, { projectId: found.projectId, siteId: body.siteId }) };
}

/** Makes the request of a file that a client sends, with the device and session that are missing. */
export async function requestUpload(
  ctx: Ctx,
  body: Body,
  { site, ...found }: Awaited<ReturnType<typeof findUploadTarget>>,
): Promise<{ id: string; createdAtNs: bigint }> {
  const target = { ...found, siteId: site.id };
  if (makesMore(body, found)) return makeTarget(ctx, body, target);
  return insertUploadRequest(ctx, ctx.db, { ...body, ...target });
}

function findServing({ db, clock }: Ctx, siteId: string): Promise<ServingSite> {
  return findServingSite({ tx: db.prisma, clock }, siteId);
}

/** The bytes of a file for a self-hosted site go there, and never come here. */
async function linkTo(ctx: Ctx, serving: ServingSite | undefined, request: { id: string; createdAtNs: bigint }) {
  if (!serving) return uploadLink(ctx, request);
  return siteUploadLink(
    ctx,
    serving,
    await ctx.db.prisma.importRequest.findUniqueOrThrow({ where: { id: request.id } }),
  );
}

/** Says whether more than the request must be looked up or created. */
function makesMore({ deviceName, sessionId, sessionKey }: Body, { device }: UploadTarget): boolean {
  return (sessionId ?? sessionKey) !== undefined || (deviceName !== undefined && !device);
}

function makeTarget(ctx: Ctx, body: Body, found: UploadTarget & { readonly siteId: string }) {
  return joinOneConnection(ctx.db, async (db) => {
    const device = found.device ?? (await createDevice(db.tx, ctx, { ...found, name: body.deviceName }));
    await resolveSession(db.tx, ctx, { ...found, body, device });
    return insertUploadRequest(ctx, db, { ...body, ...found, device });
  });
}

/** Returns the link of a request that was made already, signed again. */
async function linkAgain(ctx: Ctx, requestId: string): Promise<Complete<Output<Contract["create"]>>> {
  const request = await ctx.db.prisma.importRequest.findFirst({ where: { id: requestId, orgId: ctx.caller.orgId } });
  if (!request) throwNotFound(`the import request ${requestId}`);
  const site = await ctx.db.prisma.site.findUnique({ where: { id: request.siteId } });
  const serving = site?.type === "service-hosted" ? undefined : await findServing(ctx, request.siteId);
  return { ...(await linkTo(ctx, serving, request)), requestId };
}

interface UploadTarget {
  readonly projectId: string;
  /** Undefined if only the file will name the device, or no device has the name yet. */
  readonly device: DeviceModel | undefined;
}

/** A device named by id must exist; one that is only named need not. */
async function findTarget(ctx: Ctx, { deviceId, deviceName, projectId }: Body): Promise<UploadTarget> {
  const device = await lookUpDevice(ctx, deviceId === undefined ? { deviceName, projectId } : { deviceId });
  if (!device && deviceId !== undefined) throwNotFound(`device "${deviceId}"`);
  if (device && projectId !== undefined && projectId !== device.projectId)
    invalid("projectId", `must be ${device.projectId}, the project of device ${device.id}`);
  return { projectId: device?.projectId ?? (await resolveProject(ctx, projectId)), device };
}

interface NamedDevice {
  readonly projectId: string;
  readonly name: string | undefined;
}

async function createDevice(tx: Transaction, ctx: Ctx, { projectId, name }: NamedDevice) {
  if (name === undefined) return undefined;
  return findOrCreateDevice(tx, { orgId: ctx.caller.orgId, projectId, name, nowNs: ctx.clock.nowNs() });
}

interface NamedSession extends UploadTarget {
  readonly body: Body;
}

/** An existing session must belong to the project, and to the device if one is named; else nothing is created. */
async function resolveSession(tx: Transaction, ctx: Ctx, named: NamedSession): Promise<void> {
  const { projectId, device, body } = named;
  const session = await findOrMakeSession(tx, ctx, named);
  if (!session) return;
  const field = body.sessionId === undefined ? "sessionKey" : "sessionId";
  if (session.projectId !== projectId)
    invalid(field, `must name a session of the same project; ${session.id} belongs to project ${session.projectId}`);
  if (device && session.deviceId !== device.id)
    invalid(field, `must name a session of the same device; ${session.id} belongs to device ${session.deviceId}`);
}

/**
 * A session named by id must exist. One named by key is created for the device, unless only the file names the device: then it is created
 * at the import.
 */
async function findOrMakeSession(tx: Transaction, ctx: Ctx, named: NamedSession): Promise<SessionModel | undefined> {
  const { projectId, device, body } = named;
  const { sessionId, sessionKey: key } = body;
  if (sessionId !== undefined) {
    const where = { ...visibleTo(ctx), deletedAtNs: null, id: sessionId };
    return (await tx.session.findFirst({ where })) ?? throwNotFound(`session ${sessionId}`);
  }
  if (key === undefined) return undefined;
  if (!device) return holdSession(tx, { projectId, key });
  await holdDevice(tx, device.id);
  return findOrCreateSession(tx, { device, key, nowNs: ctx.clock.nowNs() });
}
