import { isDeepStrictEqual } from "node:util";
import type { api, Device, Input, PropertyValues } from "@downlink/protocol";
import { writeEvent } from "../../background/outbox/outbox.ts";
import type { Ctx } from "../../calls/context/context.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import type { Complete } from "../../core/complete.ts";
import { refuse } from "../../core/errors.ts";
import type { DeviceModel } from "../../db/generated/models.ts";
import { onUniqueViolation } from "../../db/sql-state.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { workingStates } from "../../import-life/import-request-state.ts";
import { readPropertyChanges } from "../../organization/custom-properties/find-properties.ts";
import { applyPropertyChanges } from "../../organization/custom-properties/property-values.ts";
import { resolveProject, tenancyOf } from "../../organization/projects/find-project.ts";
import { createDeviceRow } from "./create-device.ts";
import { listAgentHistory, releaseAgent, withAgent } from "./device-agents.ts";
import { selectDeviceRows, toDevice, toDeviceWithAgent } from "./device-rows.ts";
import { chooseNamed, findDevice, lockDevice, lockDeviceToDelete } from "./find-device.ts";
import { listDevices } from "./list-devices.ts";
import { getPropertyInterval, listPropertyHistory, setPastProperty } from "./property-history.ts";
import { recordPropertyChanges } from "./record-properties.ts";

type Contract = typeof api.devices;

export const devices: Handlers<Contract> = {
  list: listDevices,
  create: createDevice,
  get: getDevice,
  update: updateDevice,
  delete: deleteDevice,
  releaseAgent,
  listAgentHistory,
  setPastProperty,
  listPropertyHistory,
  getPropertyInterval,
};

async function createDevice(ctx: Ctx, body: Input<Contract["create"]>): Promise<Complete<Device>> {
  const { name, properties: changes } = body;
  const projectId = await resolveProject(ctx, body.projectId);
  const { orgId } = ctx.caller;
  const created = withTransaction(ctx.db, async (tx) => {
    const sent = await readPropertyChanges(tx, { orgId, resourceType: "device", changes });
    const properties = applyPropertyChanges({}, sent);
    return createDeviceRow(tx, { orgId, projectId, name, properties, nowNs: ctx.clock.nowNs() });
  });
  return toDevice(await created.catch(nameTaken(name)));
}

async function getDevice(ctx: Ctx, { nameOrId, projectId }: Input<Contract["get"]>): Promise<Complete<Device>> {
  const rows = await selectDeviceRows(ctx.db, { ...tenancyOf(ctx, projectId), nameOrId });
  return toDeviceWithAgent(chooseNamed(rows, nameOrId), ctx.clock.nowNs());
}

async function updateDevice(ctx: Ctx, input: Input<Contract["update"]>): Promise<Complete<Device>> {
  const { nameOrId, projectId, ...changes } = input;
  const { id } = await findDevice(ctx, { nameOrId, projectId });
  const updated = withTransaction(ctx.db, (tx) => changeDevice(tx, { id, ctx, changes }));
  return withAgent(ctx, await updated.catch(nameTaken(changes.name ?? "")));
}

interface Change {
  readonly id: string;
  readonly ctx: Ctx;
  readonly changes: Omit<Input<Contract["update"]>, "nameOrId" | "projectId">;
}

/** An equal value changes nothing: no history, no `updatedAt`, and no event is written. */
async function changeDevice(tx: Transaction, { id, ctx, changes }: Change): Promise<DeviceModel> {
  const { orgId } = ctx.caller;
  const sent = await readPropertyChanges(tx, { orgId, resourceType: "device", changes: changes.properties });
  const row = await lockDevice(tx, id);
  const before = row.properties as PropertyValues;
  const after = applyPropertyChanges(before, sent);
  const settings = { ...changes, name: changes.name || row.name, properties: after };
  if (isDeepStrictEqual({ ...row, ...settings }, row)) return row;
  const nowNs = ctx.clock.nowNs();
  await recordPropertyChanges(tx, { device: row, before, after, nowNs });
  const payload = { device: { id } };
  await writeEvent(tx, { type: "device.updated", orgId, projectId: row.projectId, occurredAtNs: nowNs, payload });
  if (settings.name !== row.name) await renameInImports(tx, { id, orgId, name: settings.name });
  return tx.device.update({ where: { id }, data: { ...settings, updatedAtNs: nowNs } });
}

/** Pending imports are found and sorted by the device's name; a completed import keeps the name of its time. */
async function renameInImports(
  tx: Transaction,
  { id, orgId, name }: Pick<DeviceModel, "id" | "orgId" | "name">,
): Promise<void> {
  const pending = { orgId, deviceId: id, state: { in: ["awaiting" as const, ...workingStates, "error" as const] } };
  await tx.importRequest.updateMany({ where: pending, data: { deviceName: name } });
}

async function deleteDevice(ctx: Ctx, ref: Input<Contract["delete"]>): Promise<{ id: string }> {
  const device = await findDevice(ctx, ref);
  await withTransaction(ctx.db, async (tx) => {
    await lockDeviceToDelete(tx, device.id);
    const recordings = await tx.recording.count({ where: { deviceId: device.id } });
    const files = await tx.edgeFile.count({
      where: { OR: [{ agent: { deviceId: device.id } }, { deviceId: device.id, state: { not: "indexed" } }] },
    });
    const sessions = await tx.session.count({ where: { deviceId: device.id, deletedAtNs: null } });
    const events = await tx.event.count({ where: { deviceId: device.id } });
    const underWay = { orgId: device.orgId, deviceId: device.id, state: { in: [...workingStates] } };
    const imports = await tx.importRequest.count({ where: underWay });
    if (recordings + files + sessions + events + imports > 0)
      refuse(
        "DeviceNotEmpty",
        `device "${device.name}" still has ${recordings} recordings, ${files} edge files, ${sessions} sessions, ${events} events and ${imports} imports under way`,
      );
    await tx.session.deleteMany({ where: { deviceId: device.id } }); // rows of sessions that were deleted before
    await tx.device.delete({ where: { id: device.id } });
  });
  return { id: device.id };
}

function nameTaken(name: string) {
  return onUniqueViolation(() => refuse("NameTaken", `the project has a device named "${name}" already`));
}
