import type { api, DeviceToken, Input } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import { grantCredential, toTokenFacts, type WithTokenFacts, withTokenFacts } from "../../calls/tokens/token-rows.ts";
import type { Complete } from "../../core/complete.ts";
import { ApiError, invalid, throwNotFound } from "../../core/errors.ts";
import type { DeviceTokenModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import { resolveProject, visibleTo } from "../../organization/projects/find-project.ts";
import { mintToken } from "../../process/credentials/mint.ts";
import { deviceGone, selectDevice } from "../devices/find-device.ts";

type Contract = typeof api.deviceTokens;

export const deviceTokens: Handlers<Contract> = {
  list: listDeviceTokens,
  create: createDeviceToken,
  get: getDeviceToken,
  update: updateDeviceToken,
  delete: deleteDeviceToken,
};

async function listDeviceTokens(ctx: Ctx, query: Input<Contract["list"]>): Promise<Complete<DeviceToken>[]> {
  const device = await selectDevice(ctx, query);
  const rows = await ctx.db.prisma.deviceToken.findMany({
    where: { ...visibleTo(ctx), ...(device && { deviceId: device.id }) },
    orderBy: [{ createdAtNs: "asc" }, { id: "asc" }],
    take: query.limit,
    skip: query.offset,
    ...withTokenFacts,
  });
  return rows.map(toDeviceToken);
}

async function createDeviceToken(ctx: Ctx, body: Input<Contract["create"]>): Promise<Complete<DeviceToken>> {
  const { projectId, deviceId } = await resolveOwner(ctx, body);
  const token = mintToken("dl_dt");
  const data = {
    id: newId("dt"),
    orgId: ctx.caller.orgId,
    projectId,
    deviceId,
    credential: { create: await grantCredential(ctx, token, body) },
    enabled: body.enabled,
    preapproved: body.preapproved,
    createdAtNs: ctx.clock.nowNs(),
  };
  const row = await ctx.db.prisma.deviceToken.create({ data, ...withTokenFacts }).catch(deviceGone(deviceId));
  return { ...toDeviceToken(row), token };
}

async function resolveOwner(
  ctx: Ctx,
  body: Input<Contract["create"]>,
): Promise<{ projectId: string; deviceId: string | null }> {
  const device = await selectDevice(ctx, { deviceId: body.deviceId });
  if (device && body.projectId !== undefined && body.projectId !== device.projectId)
    invalid("projectId", `must be ${device.projectId}, the project of device ${device.id}`);
  if (device) return { projectId: device.projectId, deviceId: device.id };
  if (body.projectId === undefined)
    throw new ApiError("ProjectRequired", "projectId is required where deviceId is omitted");
  return { projectId: await resolveProject(ctx, body.projectId), deviceId: null };
}

async function getDeviceToken(ctx: Ctx, { id }: Input<Contract["get"]>): Promise<Complete<DeviceToken>> {
  return toDeviceToken(await findDeviceToken(ctx, id));
}

async function updateDeviceToken(ctx: Ctx, { id, enabled }: Input<Contract["update"]>): Promise<Complete<DeviceToken>> {
  const where = { AND: [{ id }, visibleTo(ctx)] };
  const [row] = await ctx.db.prisma.deviceToken.updateManyAndReturn({ where, data: { enabled } });
  return row ? getDeviceToken(ctx, { id }) : throwNotFound(`device token ${id}`);
}

async function deleteDeviceToken(ctx: Ctx, { id }: Input<Contract["delete"]>): Promise<{ id: string }> {
  const { count } = await ctx.db.prisma.deviceToken.deleteMany({ where: { AND: [{ id }, visibleTo(ctx)] } });
  if (count === 0) throwNotFound(`device token ${id}`);
  return { id };
}

async function findDeviceToken(ctx: Ctx, id: string): Promise<DeviceTokenModel & WithTokenFacts> {
  const where = { AND: [{ id }, visibleTo(ctx)] };
  const row = await ctx.db.prisma.deviceToken.findFirst({ where, ...withTokenFacts });
  return row ?? throwNotFound(`device token ${id}`);
}

function toDeviceToken(row: DeviceTokenModel & WithTokenFacts): Complete<DeviceToken> {
  return {
    id: row.id,
    createdAt: row.createdAtNs,
    deviceId: row.deviceId,
    projectId: row.projectId,
    enabled: row.enabled,
    preapproved: row.preapproved,
    ...toTokenFacts(row),
  };
}
