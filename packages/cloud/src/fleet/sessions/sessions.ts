import { isDeepStrictEqual } from "node:util";
import type { api, Input, PropertyValues, Session } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import type { Complete } from "../../core/complete.ts";
import { invalid, refuse, throwNotFound } from "../../core/errors.ts";
import type { DeviceModel } from "../../db/generated/models.ts";
import { onUniqueViolation } from "../../db/sql-state.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { readPropertyChanges } from "../../organization/custom-properties/find-properties.ts";
import { applyPropertyChanges } from "../../organization/custom-properties/property-values.ts";
import { visibleIn } from "../../organization/projects/find-project.ts";
import { holdDevice, selectDevice } from "../devices/find-device.ts";
import { createSessionRow } from "./create-session.ts";
import { findSession } from "./find-session.ts";
import { listSessions } from "./list-sessions.ts";
import { lockMembers, type Member, planMoves, requireAddable } from "./session-recordings.ts";
import { sessionColumns, toSession } from "./session-rows.ts";

type Contract = typeof api.sessions;

export const sessions: Handlers<Contract> = {
  list: listSessions,
  create: createSession,
  get: getSession,
  update: updateSession,
  delete: deleteSession,
};

async function createSession(ctx: Ctx, body: Input<Contract["create"]>): Promise<Complete<Session>> {
  const { key, recordingIds = [], properties: sent } = body;
  const { orgId } = ctx.caller;
  const named = await selectSessionDevice(ctx, body);
  const created = withTransaction(ctx.db, async (tx) => {
    const changes = await readPropertyChanges(tx, { orgId, resourceType: "session", changes: sent });
    const members = await lockMembers(tx, ctx, recordingIds);
    const device = named ?? (await inferDevice(tx, members, body.projectId));
    requireAddable(members, { deviceId: device.id });
    await holdDevice(tx, device.id);
    const properties = applyPropertyChanges({}, changes);
    const { id } = await createSessionRow(tx, { device, key, properties, nowNs: ctx.clock.nowNs() });
    await tx.recording.updateMany({ where: { id: { in: recordingIds } }, data: { sessionId: id } });
    return readSession(tx, id);
  });
  return created.catch(keyTaken(key));
}

async function getSession(ctx: Ctx, ref: Input<Contract["get"]>): Promise<Complete<Session>> {
  const { id } = await findSession(ctx, ref);
  return readSession(ctx.db.prisma, id);
}

async function updateSession(ctx: Ctx, input: Input<Contract["update"]>): Promise<Complete<Session>> {
  const { id } = await findSession(ctx, input);
  const updated = withTransaction(ctx.db, (tx) => changeSession(tx, { ctx, id, input }));
  return updated.catch(keyTaken(input.key));
}

/** Unlinks its recordings, whose data stays; another session may then have its key. spec: Sessions/Delete */
async function deleteSession(ctx: Ctx, ref: Input<Contract["delete"]>): Promise<{ id: string }> {
  const { id } = await findSession(ctx, ref);
  await withTransaction(ctx.db, async (tx) => {
    await tx.$queryRaw`SELECT id FROM "Recording" WHERE "sessionId" = ${id} ORDER BY id FOR NO KEY UPDATE`;
    const nowNs = ctx.clock.nowNs();
    const live = { id, deletedAtNs: null };
    const { count } = await tx.session.updateMany({ where: live, data: { deletedAtNs: nowNs, updatedAtNs: nowNs } });
    if (count === 0) throwNotFound(`session ${id}`);
    await tx.recording.updateMany({ where: { sessionId: id }, data: { sessionId: null } });
  });
  return { id };
}

/** Finds the device that the body names. "A `projectId` that differs from the device's project yields 400." spec: Sessions/Create */
async function selectSessionDevice(ctx: Ctx, body: Input<Contract["create"]>): Promise<DeviceModel | undefined> {
  const { deviceId, deviceName, projectId } = body;
  await visibleIn(ctx, projectId);
  const device = await selectDevice(ctx, deviceId ? { deviceId } : { deviceName, projectId });
  if (device) requireProject(device, projectId);
  return device;
}

/** If no device is named the recordings determine it. spec: Sessions/Create */
async function inferDevice(
  tx: Transaction,
  [first]: readonly Member[],
  projectId: string | undefined,
): Promise<DeviceModel> {
  if (!first?.deviceId) invalid("recordingIds", `must name recordings of a device; ${first?.id} is of none`);
  const device = await tx.device.findUniqueOrThrow({ where: { id: first.deviceId } });
  requireProject(device, projectId);
  return device;
}

function requireProject(device: DeviceModel, projectId: string | undefined): void {
  if (projectId !== undefined && projectId !== device.projectId)
    invalid("projectId", `must be ${device.projectId}, the project of device ${device.id}`);
}

interface Change {
  readonly ctx: Ctx;
  readonly id: string;
  readonly input: Input<Contract["update"]>;
}

/** Equal values change nothing, not even `updatedAt`. */
async function changeSession(tx: Transaction, { ctx, id, input }: Change): Promise<Complete<Session>> {
  const changes = await readPropertyChanges(tx, {
    orgId: ctx.caller.orgId,
    resourceType: "session",
    changes: input.properties,
  });
  const members = await lockMembers(tx, ctx, [...(input.addRecordingIds ?? []), ...(input.removeRecordingIds ?? [])]);
  const row = await lockSession(tx, id);
  const { joining, leaving } = planMoves(members, row, input);
  await tx.recording.updateMany({ where: { id: { in: joining } }, data: { sessionId: id } });
  await tx.recording.updateMany({ where: { id: { in: leaving } }, data: { sessionId: null } });
  const key = input.key === undefined ? row.key : input.key;
  const properties = applyPropertyChanges(row.properties as PropertyValues, changes);
  const isSame = key === row.key && isDeepStrictEqual(properties, row.properties);
  if (!isSame || joining.length + leaving.length > 0)
    await tx.session.update({ where: { id }, data: { key, properties, updatedAtNs: ctx.clock.nowNs() } });
  return readSession(tx, id);
}

/** Locks the session and returns it; until the transaction ends, other changes of it and imports into it wait. */
async function lockSession(tx: Transaction, id: string) {
  await tx.$queryRaw`SELECT id FROM "Session" WHERE id = ${id} FOR NO KEY UPDATE`;
  return (await tx.session.findFirst({ where: { id, deletedAtNs: null } })) ?? throwNotFound(`session ${id}`);
}

async function readSession(db: Pick<Transaction, "session">, id: string): Promise<Complete<Session>> {
  const row = await db.session.findUnique({ where: { id }, select: sessionColumns });
  return toSession(row ?? throwNotFound(`session ${id}`));
}

function keyTaken(key: string | null | undefined) {
  return onUniqueViolation(() => refuse("NameTaken", `the project has a session with the key "${key}" already`));
}
