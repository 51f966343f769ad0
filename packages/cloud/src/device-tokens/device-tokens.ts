import type { api, DeviceToken, Input } from "@downlink/protocol";
import type { Ctx } from "../context.ts";
import type { DeviceTokenModel } from "../db/generated/models.ts";
import { newId } from "../db/ids.ts";
import { selectDevice } from "../devices/find-device.ts";
import { ApiError, invalid, notFound } from "../http/errors.ts";
import type { Handlers } from "../http/serve.ts";
import { resolveProject, visibleTo } from "../projects/find-project.ts";
import { hashToken, mintToken } from "../tokens/mint.ts";

type Contract = typeof api.deviceTokens;

export const deviceTokens: Handlers<Contract> = {
  list: listDeviceTokens,
  create: createDeviceToken,
  get: getDeviceToken,
  update: updateDeviceToken,
  delete: deleteDeviceToken,
};

async function listDeviceTokens(ctx: Ctx, query: Input<Contract["list"]>): Promise<DeviceToken[]> {
  const device = await selectDevice(ctx, query);
  const rows = await ctx.db.prisma.deviceToken.findMany({
    where: { ...visibleTo(ctx), ...(device && { deviceId: device.id }) },
    orderBy: [{ createdAtNs: "asc" }, { id: "asc" }],
    take: query.limit,
    skip: query.offset,
  });
  return rows.map(toDeviceToken);
}

async function createDeviceToken(ctx: Ctx, body: Input<Contract["create"]>): Promise<DeviceToken> {
  const { projectId, deviceId } = await resolveOwner(ctx, body);
  const token = mintToken("dl_dt");
  const row = await ctx.db.prisma.deviceToken.create({
    data: {
      id: newId("dt"),
      orgId: ctx.caller.orgId,
      projectId,
      deviceId,
      tokenSha256: hashToken(token),
      enabled: body.enabled,
      preapproved: body.preapproved,
      createdAtNs: ctx.clock.nowNs(),
    },
  });
  return { ...toDeviceToken(row), token };
}

async function resolveOwner(
  ctx: Ctx,
  body: Input<Contract["create"]>,
): Promise<{ projectId: string; deviceId: string | null }> {
  const device = await selectDevice(ctx, { deviceId: body.deviceId });
  if (device && body.projectId !== undefined && body.projectId !== device.projectId)
    invalid("projectId", `device ${device.id} belongs to project ${device.projectId}`);
  if (device) return { projectId: device.projectId, deviceId: device.id };
  if (body.projectId === undefined)
    throw new ApiError("ProjectRequired", "projectId is required where deviceId is omitted");
  return { projectId: await resolveProject(ctx, body.projectId), deviceId: null };
}

async function getDeviceToken(ctx: Ctx, { id }: Input<Contract["get"]>): Promise<DeviceToken> {
  return toDeviceToken(await findDeviceToken(ctx, id));
}

async function updateDeviceToken(ctx: Ctx, { id, enabled }: Input<Contract["update"]>): Promise<DeviceToken> {
  await findDeviceToken(ctx, id);
  const row = await ctx.db.prisma.deviceToken.update({ where: { id }, data: { enabled } });
  await tellWaiting(ctx, row);
  return toDeviceToken(row);
}

async function deleteDeviceToken(ctx: Ctx, { id }: Input<Contract["delete"]>): Promise<{ id: string }> {
  const row = await findDeviceToken(ctx, id);
  await ctx.db.prisma.deviceToken.deleteMany({ where: { id } });
  await tellWaiting(ctx, row);
  return { id };
}

/** An agent that waits with the token is not to wait on with one that is no good. */
async function tellWaiting({ workSignals }: Ctx, { deviceId }: DeviceTokenModel): Promise<void> {
  if (deviceId !== null) await workSignals.announce(deviceId);
}

async function findDeviceToken(ctx: Ctx, id: string): Promise<DeviceTokenModel> {
  const row = await ctx.db.prisma.deviceToken.findFirst({ where: { AND: [{ id }, visibleTo(ctx)] } });
  return row ?? notFound(`device token ${id}`);
}

function toDeviceToken(row: DeviceTokenModel): DeviceToken {
  return {
    id: row.id,
    createdAt: row.createdAtNs,
    deviceId: row.deviceId,
    projectId: row.projectId,
    enabled: row.enabled,
    preapproved: row.preapproved,
  };
}
