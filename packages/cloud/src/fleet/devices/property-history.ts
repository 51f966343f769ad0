import type { api, Input, PropertyInterval } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { jsonbWhere, mayContainTexts } from "../../calls/search/jsonb-where.ts";
import { parseQuery } from "../../calls/search/terms.ts";
import type { Complete } from "../../core/complete.ts";
import { invalid, throwNotFound } from "../../core/errors.ts";
import { Prisma } from "../../db/generated/client.ts";
import type { DevicePropertyIntervalModel } from "../../db/generated/models.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { holdProperties } from "../../organization/custom-properties/find-properties.ts";
import { checkPropertyValue } from "../../organization/custom-properties/property-values.ts";
import { toPropertyInterval } from "./device-rows.ts";
import { findDevice, lockDevice } from "./find-device.ts";
import { type Interval, overlay } from "./overlay.ts";
import { writeIntervals } from "./write-intervals.ts";

type Contract = typeof api.devices;
type ListQuery = Input<Contract["listPropertyHistory"]>;
type Edit = Input<Contract["setPastProperty"]>;

/** Sets a past value; the current value stays. spec: Devices/Set past property value over a time range */
export async function setPastProperty(ctx: Ctx, edit: Edit): Promise<undefined> {
  const { id, orgId } = await findDevice(ctx, edit);
  requirePast(edit, ctx.clock.nowNs());
  await withTransaction(ctx.db, async (tx) => {
    const value = await readValue(tx, orgId, edit);
    const device = await lockDevice(tx, id);
    const span = { startNs: edit.start, endNs: edit.end };
    const { inserted, ...plan } = overlay(await findOverlapped(tx, id, edit), { ...span, value });
    await writeIntervals(tx, device, { ...plan, inserted: inserted.map((part) => ({ ...part, key: edit.key })) });
  });
}

/** spec: Devices/List property history */
export async function listPropertyHistory(ctx: Ctx, query: ListQuery): Promise<Complete<PropertyInterval>[]> {
  const device = await findDevice(ctx, query);
  const rows = await ctx.db.prisma.$queryRaw<DevicePropertyIntervalModel[]>`
    SELECT i.* FROM "DevicePropertyInterval" i
    WHERE ${Prisma.join([Prisma.sql`i."deviceId" = ${device.id}`, ...conditions(query)], " AND ")}
    ORDER BY ${order(query)}
    LIMIT ${query.limit} OFFSET ${query.offset}`;
  return rows.map(toPropertyInterval);
}

export async function getPropertyInterval(
  ctx: Ctx,
  { id, ...ref }: Input<Contract["getPropertyInterval"]>,
): Promise<Complete<PropertyInterval>> {
  const device = await findDevice(ctx, ref);
  const row = await ctx.db.prisma.devicePropertyInterval.findFirst({ where: { id, deviceId: device.id } });
  return toPropertyInterval(row ?? throwNotFound(`property interval ${id} of device "${device.name}"`));
}

function requirePast({ start, end }: Edit, nowNs: bigint): void {
  if (start >= end) invalid("start", "must be before end");
  if (end > nowNs) invalid("end", "must be in the past; the current value is set by updating the device");
}

async function readValue(tx: Transaction, orgId: string, { key, value }: Edit) {
  const [definition] = await holdProperties(tx, { orgId, resourceType: "device", keys: [key] });
  if (!definition) throwNotFound(`device custom property "${key}"`);
  if (value === undefined || value === null) return undefined;
  checkPropertyValue(definition, value, "value");
  return value;
}

function findOverlapped(tx: Transaction, deviceId: string, { key, start, end }: Edit): Promise<Interval[]> {
  return tx.$queryRaw<Interval[]>`
    SELECT id, value, "startNs", "endNs" FROM "DevicePropertyInterval"
    WHERE "deviceId" = ${deviceId} AND key = ${key}
      AND "startNs" < ${end} AND ("endNs" IS NULL OR "endNs" > ${start})`;
}

const object = Prisma.sql`jsonb_build_object(i.key, i.value)`;
/** Key and value as the object holds them: a search for a text takes half the time, because no text has to be built. */
const parts = Prisma.sql`(i.key || i.value::text)`;

function conditions({ query, start, end }: ListQuery): Prisma.Sql[] {
  const terms = parseQuery(query ?? "");
  return [
    ...(start === undefined ? [] : [Prisma.sql`(i."endNs" IS NULL OR i."endNs" > ${start})`]),
    ...(end === undefined ? [] : [Prisma.sql`i."startNs" < ${end}`]),
    ...(terms.length === 0 ? [] : [mayContainTexts(parts, terms), jsonbWhere(object, terms)]),
  ];
}

/** An interval that is still in effect ends after all others. */
function order({ sortBy = "start", sortOrder }: ListQuery): Prisma.Sql {
  const columns = { id: ["id"], key: ["key", "startNs", "id"], start: ["startNs", "id"], end: ["endNs", "id"] }[sortBy];
  return Prisma.raw(columns.map((column) => `i."${column}" ${sortOrder}`).join(", "));
}
