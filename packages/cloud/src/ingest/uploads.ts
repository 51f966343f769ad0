// Devices and sessions of uploads are made with the link, not once the file is imported, so that a list by their
// names does not answer 404 in between; a link that is never used leaves them. Whoever asks first makes them for all
// (`findOrCreateDevice`, `findOrCreateSession`). What only the file names is made at its import, and a deleted
// session anew then.

import type { api, Input, Output } from "@downlink/protocol";
import type { Ctx } from "../context/context.ts";
import type { Complete } from "../core/complete.ts";
import { invalid, notFound } from "../core/errors.ts";
import type { DeviceModel, SessionModel } from "../db/generated/models.ts";
import { withinOneConnection } from "../db/one-connection.ts";
import type { Transaction } from "../db/transaction.ts";
import { findOrCreateDevice } from "../devices/create-device.ts";
import { holdDevice, lookUpDevice } from "../devices/find-device.ts";
import type { Agains } from "../http/again.ts";
import type { Handlers } from "../http/handlers.ts";
import { resolveProject, visibleTo } from "../projects/find-project.ts";
import { quotasOf, requireRoomWithin } from "../quotas/require-room.ts";
import { findOrCreateSession } from "../sessions/create-session.ts";
import { holdSession } from "../sessions/find-session.ts";
import { insertUploadRequest } from "./insert-upload-request.ts";
import { uploadLink } from "./upload-link.ts";

type Contract = typeof api.uploads;
type Body = Input<Contract["create"]>;

export const uploads: Handlers<Contract> = { create: createUploadLink };
export const uploadsAgain: Agains<Contract> = { create: linkAgain };

/**
 * A link that takes one file, once. Names and ids are checked now, so that nobody uploads 40 GB to learn of a typing error; the
 * device and the session that are missing are made now, so that lists by their names do not answer 404 in between.
 */
async function createUploadLink(ctx: Ctx, body: Body): Promise<Complete<Output<Contract["create"]>>> {
  const { orgId } = ctx.caller;
  await requireRoomWithin(ctx.db.prisma, await quotasOf(ctx.db, orgId), { orgId, fileBytes: 1n });
  const found = await findTarget(ctx, body);
  const request = makesMore(body, found)
    ? await makeTarget(ctx, body, found)
    : await insertUploadRequest(ctx, ctx.db, { ...body, ...found });
  return { ...uploadLink(ctx, request), requestId: request.id };
}

/** Whether there is more to look at or to make than the request. */
function makesMore({ deviceName, sessionId, sessionKey }: Body, { device }: UploadTarget): boolean {
  return (sessionId ?? sessionKey) !== undefined || (deviceName !== undefined && !device);
}

function makeTarget(ctx: Ctx, body: Body, found: UploadTarget) {
  return withinOneConnection(ctx.db, async (db) => {
    const device = found.device ?? (await createDevice(db.tx, ctx, { ...found, name: body.deviceName }));
    await resolveSession(db.tx, ctx, { ...found, body, device });
    return insertUploadRequest(ctx, db, { ...body, ...found, device });
  });
}

/** The link of a request that was made already, signed anew. */
async function linkAgain(ctx: Ctx, requestId: string): Promise<Complete<Output<Contract["create"]>>> {
  const request = await ctx.db.prisma.importRequest.findFirst({ where: { id: requestId, orgId: ctx.caller.orgId } });
  return { ...uploadLink(ctx, request ?? notFound(`the import request ${requestId}`)), requestId };
}

interface UploadTarget {
  readonly projectId: string;
  /** Undefined where the file is to say it, or no device has the name yet. */
  readonly device: DeviceModel | undefined;
}

/** A device named by id must exist, one that is only named need not. */
async function findTarget(ctx: Ctx, { deviceId, deviceName, projectId }: Body): Promise<UploadTarget> {
  const device = await lookUpDevice(ctx, deviceId === undefined ? { deviceName, projectId } : { deviceId });
  if (!device && deviceId !== undefined) notFound(`device "${deviceId}"`);
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

/** A session that is there must be of the project, and of the device where one is named; else nothing is made. */
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

/** By id it must exist. By key it is made for the device, but where only the file knows the device: then once it is imported. */
async function findOrMakeSession(tx: Transaction, ctx: Ctx, named: NamedSession): Promise<SessionModel | undefined> {
  const { projectId, device, body } = named;
  const { sessionId, sessionKey: key } = body;
  if (sessionId !== undefined) {
    const where = { ...visibleTo(ctx), deletedAtNs: null, id: sessionId };
    return (await tx.session.findFirst({ where })) ?? notFound(`session ${sessionId}`);
  }
  if (key === undefined) return undefined;
  if (!device) return holdSession(tx, { projectId, key });
  await holdDevice(tx, device.id);
  return findOrCreateSession(tx, { device, key, nowNs: ctx.clock.nowNs() });
}
