import type { api, Device, Input } from "@downlink/protocol";
import type { Ctx } from "../context.ts";
import { sqlState, UNIQUE_VIOLATION } from "../db/sql-state.ts";
import { withTransaction } from "../db/transaction.ts";
import { ApiError } from "../http/errors.ts";
import type { Handlers } from "../http/serve.ts";
import { writeEvent } from "../outbox/outbox.ts";
import { resolveProject, visibleIn } from "../projects/find-project.ts";
import { createDeviceRow } from "./create-device.ts";
import { toDevice } from "./device-rows.ts";
import { findDevice } from "./find-device.ts";

type Contract = typeof api.devices;

export const devices: Handlers<Contract> = {
  list: listDevices,
  create: createDevice,
  get: getDevice,
  update: updateDevice,
  delete: deleteDevice,
};

async function listDevices(ctx: Ctx, query: Input<Contract["list"]>): Promise<Device[]> {
  const rows = await ctx.db.prisma.device.findMany({
    where: await visibleIn(ctx, query.projectId),
    orderBy: [{ [query.sortBy ?? "createdAtNs"]: query.sortOrder }, { id: query.sortOrder }],
    take: query.limit,
    skip: query.offset,
  });
  return rows.map(toDevice);
}

async function createDevice(ctx: Ctx, body: Input<Contract["create"]>): Promise<Device> {
  const projectId = await resolveProject(ctx, body.projectId);
  const device = { orgId: ctx.caller.orgId, projectId, name: body.name, nowNs: ctx.clock.nowNs() };
  const row = await withTransaction(ctx.db, (tx) => createDeviceRow(tx, device)).catch(nameTaken(body.name));
  return toDevice(row);
}

async function getDevice(ctx: Ctx, ref: Input<Contract["get"]>): Promise<Device> {
  return toDevice(await findDevice(ctx, ref));
}

async function updateDevice(ctx: Ctx, input: Input<Contract["update"]>): Promise<Device> {
  const { nameOrId, projectId, name, ...changes } = input;
  const device = await findDevice(ctx, { nameOrId, projectId });
  const nowNs = ctx.clock.nowNs();
  const updated = withTransaction(ctx.db, async (tx) => {
    const row = await tx.device.update({
      where: { id: device.id },
      data: { ...changes, name: name || device.name, updatedAtNs: nowNs },
    });
    await writeEvent(tx, {
      type: "device.updated",
      orgId: row.orgId,
      projectId: row.projectId,
      occurredAtNs: nowNs,
      payload: { device: { id: row.id } },
    });
    return row;
  });
  const row = await updated.catch(nameTaken(name ?? ""));
  await ctx.workSignals.announce(device.id); // the agent's settings are part of its work
  return toDevice(row);
}

async function deleteDevice(ctx: Ctx, ref: Input<Contract["delete"]>): Promise<{ id: string }> {
  const device = await findDevice(ctx, ref);
  await withTransaction(ctx.db, async (tx) => {
    await tx.$queryRaw`SELECT id FROM "Device" WHERE id = ${device.id} FOR UPDATE`; // nothing is added to it meanwhile
    const recordings = await tx.recording.count({ where: { deviceId: device.id } });
    const files = await tx.edgeFile.count({ where: { deviceId: device.id } });
    const sessions = await tx.session.count({ where: { deviceId: device.id } });
    if (recordings + files + sessions > 0)
      throw new ApiError(
        "DeviceNotEmpty",
        `device "${device.name}" still has ${recordings} recordings, ${files} edge files and ${sessions} sessions`,
      );
    await tx.device.delete({ where: { id: device.id } });
  });
  return { id: device.id };
}

function nameTaken(name: string) {
  return (error: unknown): never => {
    if (sqlState(error) !== UNIQUE_VIOLATION) throw error;
    throw new ApiError("NameTaken", `the project has a device named "${name}" already`);
  };
}
