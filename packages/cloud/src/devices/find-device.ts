import type { Ctx } from "../context.ts";
import type { DeviceModel } from "../db/generated/models.ts";
import type { Transaction } from "../db/transaction.ts";
import { ApiError, notFound } from "../http/errors.ts";
import { visibleIn } from "../projects/find-project.ts";

interface DeviceRef {
  readonly nameOrId: string;
  readonly projectId?: string | undefined;
}

/** A device may be named with another device's id; then the name wins. spec: Endpoints */
export async function findDevice(ctx: Ctx, { nameOrId, projectId }: DeviceRef): Promise<DeviceModel> {
  const where = await visibleIn(ctx, projectId);
  const rows = await ctx.db.prisma.device.findMany({
    where: { AND: [where, { OR: [{ name: nameOrId }, { id: nameOrId }] }] },
    take: 3,
  });
  const named = rows.filter((row) => row.name === nameOrId);
  if (named.length > 1)
    throw new ApiError("AmbiguousName", `several projects have a device named "${nameOrId}"; give projectId`);
  return named[0] ?? rows[0] ?? notFound(`device "${nameOrId}"`);
}

interface DeviceSelector {
  readonly deviceId?: string | undefined;
  readonly deviceName?: string | undefined;
  readonly projectId?: string | undefined;
}

/** The device that a query or body selects, by id or else by name; undefined where it selects none; 404 where it does not exist. */
export async function selectDevice(ctx: Ctx, selector: DeviceSelector): Promise<DeviceModel | undefined> {
  if (!selector.deviceId && !selector.deviceName) return undefined;
  return (await lookUpDevice(ctx, selector)) ?? notFound(`device "${selector.deviceId || selector.deviceName}"`);
}

/** As {@link selectDevice}; undefined as well where no device has the id or the name. */
export async function lookUpDevice(ctx: Ctx, selector: DeviceSelector): Promise<DeviceModel | undefined> {
  const { deviceId, deviceName, projectId } = selector;
  if (!deviceId && !deviceName) return undefined;
  const where = await visibleIn(ctx, projectId);
  const rows = await ctx.db.prisma.device.findMany({
    where: { AND: [where, deviceId ? { id: deviceId } : { name: deviceName! }] },
    take: 2,
  });
  if (rows.length > 1)
    throw new ApiError("AmbiguousName", `several projects have a device named "${deviceName}"; give projectId`);
  return rows[0];
}

/** The device as it is now; until the transaction ends, other changes of its settings and properties wait. */
export async function lockDevice(tx: Transaction, id: string): Promise<DeviceModel> {
  await tx.$queryRaw`SELECT id FROM "Device" WHERE id = ${id} FOR NO KEY UPDATE`;
  return (await tx.device.findUnique({ where: { id } })) ?? notFound(`device ${id}`);
}

/** Keeps a device from being deleted until the transaction ends, so that something can be added to it. */
export async function holdDevice(tx: Transaction, id: string): Promise<void> {
  const held = await tx.$queryRaw<unknown[]>`SELECT id FROM "Device" WHERE id = ${id} FOR KEY SHARE`;
  if (held.length === 0) notFound(`device ${id}`);
}
