import type { api, Input } from "@downlink/protocol";
import { signLink } from "../blobs/signed-link.ts";
import type { Ctx } from "../context.ts";
import type { DeviceModel } from "../db/generated/models.ts";
import { newId } from "../db/ids.ts";
import { withTransaction } from "../db/transaction.ts";
import { selectDevice } from "../devices/find-device.ts";
import { ApiError, invalid, notFound } from "../http/errors.ts";
import type { Handlers } from "../http/serve.ts";
import { resolveProject } from "../projects/find-project.ts";
import { primarySiteOf } from "../sites/primary-site.ts";
import { uploadPath } from "./upload-route.ts";

type Contract = typeof api.uploads;
type Body = Input<Contract["create"]>;

const LINK_LIFE_NS = 24n * 3600n * 1_000_000_000n;

export const uploads: Handlers<Contract> = { create: createUploadLink };

/** A link that takes one file, once. Names and ids are checked now, so that nobody uploads 40 GB to learn of a typing error. */
async function createUploadLink(ctx: Ctx, body: Body): Promise<{ link: string; requestId: string }> {
  const device = await findOrNameDevice(ctx, body);
  const projectId = device?.projectId ?? (await resolveProject(ctx, body.projectId));
  if (body.projectId !== undefined && body.projectId !== projectId)
    invalid("projectId", `device ${device?.id} belongs to project ${projectId}`);
  await checkSession(ctx, { sessionId: body.sessionId, projectId });
  const nowNs = ctx.clock.nowNs();
  const request = await withTransaction(ctx.db, async (tx) => {
    const site = await primarySiteOf(tx, ctx.caller.orgId);
    return tx.importRequest.create({
      data: {
        id: newId("req"),
        orgId: ctx.caller.orgId,
        projectId,
        siteId: site.id,
        source: "upload",
        state: "awaiting",
        pipelineStage: "Waiting for the upload",
        deviceId: device?.id,
        deviceName: device ? undefined : body.deviceName,
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
  const path = uploadPath(request.id);
  const expiresAtMs = Number((nowNs + LINK_LIFE_NS) / 1_000_000n);
  return {
    link: `${ctx.publicUrl()}${path}?${signLink(ctx.signer, { method: "PUT", path, claims: {}, expiresAtMs })}`,
    requestId: request.id,
  };
}

/** A device named by id must exist; one given by name only is created when the file has been imported. */
async function findOrNameDevice(ctx: Ctx, { deviceId, deviceName, projectId }: Body): Promise<DeviceModel | undefined> {
  try {
    return await selectDevice(ctx, { deviceId, deviceName, projectId });
  } catch (error) {
    const isNew = error instanceof ApiError && error.code === "NotFound" && deviceId === undefined;
    if (!isNew) throw error;
    await resolveProject(ctx, projectId);
    return undefined;
  }
}

async function checkSession(
  ctx: Ctx,
  { sessionId, projectId }: { sessionId: string | undefined; projectId: string },
): Promise<void> {
  if (sessionId === undefined) return;
  const where = { id: sessionId, orgId: ctx.caller.orgId, projectId, deletedAtNs: null };
  const found = await ctx.db.prisma.session.findFirst({ where });
  if (!found) notFound(`session ${sessionId}`);
}
