import type { api, Input } from "@downlink/protocol";
import type { Ctx } from "../context.ts";
import type { DeviceModel, SessionModel } from "../db/generated/models.ts";
import { newId } from "../db/ids.ts";
import { withTransaction } from "../db/transaction.ts";
import { selectDevice } from "../devices/find-device.ts";
import { ApiError, invalid, notFound } from "../http/errors.ts";
import type { Handlers } from "../http/serve.ts";
import { resolveProject, visibleTo } from "../projects/find-project.ts";
import { primarySiteOf } from "../sites/primary-site.ts";
import { uploadLink } from "./upload-link.ts";

type Contract = typeof api.uploads;
type Body = Input<Contract["create"]>;

export const uploads: Handlers<Contract> = { create: createUploadLink };

/** A link that takes one file, once. Names and ids are checked now, so that nobody uploads 40 GB to learn of a typing error. */
async function createUploadLink(ctx: Ctx, body: Body): Promise<{ link: string; requestId: string }> {
  const target = await findTarget(ctx, body);
  const nowNs = ctx.clock.nowNs();
  const request = await withTransaction(ctx.db, async (tx) => {
    const site = await primarySiteOf(tx, ctx.caller.orgId);
    return tx.importRequest.create({
      data: {
        id: newId("req"),
        orgId: ctx.caller.orgId,
        projectId: target.projectId,
        siteId: site.id,
        source: "upload",
        state: "awaiting",
        pipelineStage: "Waiting for the upload",
        deviceId: target.device?.id,
        deviceName: target.device?.name ?? body.deviceName,
        key: body.key,
        sessionId: body.sessionId,
        sessionKey: body.sessionKey,
        filename: body.filename,
        isAcknowledged: true,
        createdAtNs: nowNs,
        updatedAtNs: nowNs,
      },
    });
  });
  return { link: uploadLink(ctx, request), requestId: request.id };
}

interface UploadTarget {
  readonly projectId: string;
  /** Undefined where the file is to say it, or the name is of a device that is created once the file is imported. */
  readonly device: DeviceModel | undefined;
}

async function findTarget(ctx: Ctx, body: Body): Promise<UploadTarget> {
  const device = await findOrNameDevice(ctx, body);
  if (device && body.projectId !== undefined && body.projectId !== device.projectId)
    invalid("projectId", `device ${device.id} belongs to project ${device.projectId}`);
  const projectId = device?.projectId ?? (await resolveProject(ctx, body.projectId));
  await requireSession(ctx, body, { projectId, device });
  return { projectId, device };
}

/** A device named by id must exist, one that is only named need not. */
async function findOrNameDevice(ctx: Ctx, body: Body): Promise<DeviceModel | undefined> {
  const { deviceId, deviceName, projectId } = body;
  try {
    return await selectDevice(ctx, deviceId === undefined ? { deviceName, projectId } : { deviceId });
  } catch (error) {
    const isNew = error instanceof ApiError && error.code === "NotFound" && deviceId === undefined;
    if (!isNew) throw error;
    return undefined;
  }
}

/** A session named by id must exist; one that is there must be of the device. */
async function requireSession(ctx: Ctx, body: Body, { projectId, device }: UploadTarget): Promise<void> {
  const session = await findSession(ctx, body, projectId);
  if (!session) return;
  const isNamed = body.deviceId !== undefined || body.deviceName !== undefined;
  const field = body.sessionId === undefined ? "sessionKey" : "sessionId";
  if (session.projectId !== projectId) invalid(field, `session ${session.id} belongs to project ${session.projectId}`);
  if (isNamed && session.deviceId !== device?.id)
    invalid(field, `session ${session.id} belongs to device ${session.deviceId}`);
}

async function findSession(ctx: Ctx, body: Body, projectId: string): Promise<SessionModel | null> {
  const { sessionId, sessionKey } = body;
  const live = { ...visibleTo(ctx), deletedAtNs: null };
  if (sessionId !== undefined)
    return (
      (await ctx.db.prisma.session.findFirst({ where: { ...live, id: sessionId } })) ?? notFound(`session ${sessionId}`)
    );
  if (sessionKey === undefined) return null;
  return ctx.db.prisma.session.findFirst({ where: { ...live, projectId, key: sessionKey } });
}
