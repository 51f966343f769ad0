import type { api, Device, Input } from "@downlink/protocol";
import type { Ctx } from "../context.ts";
import type { DeviceModel } from "../db/generated/models.ts";
import { noLongerCloned, toEdgeAgent } from "../edge/agent-rows.ts";
import { toDevice } from "./device-rows.ts";
import { findDevice } from "./find-device.ts";

/** With what their agents last said of themselves. */
export async function withAgents({ db, clock }: Ctx, devices: readonly Device[]): Promise<Device[]> {
  const agents = await db.prisma.agent.findMany({ where: { deviceId: { in: devices.map(({ id }) => id) } } });
  const byDevice = new Map(agents.map((agent) => [agent.deviceId, agent]));
  const nowNs = clock.nowNs();
  return devices.map((device) => {
    const agent = byDevice.get(device.id);
    return agent ? { ...device, agent: toEdgeAgent(agent, nowNs) } : device;
  });
}

export async function withAgent(ctx: Ctx, row: DeviceModel): Promise<Device> {
  const [device] = await withAgents(ctx, [toDevice(row)]);
  return device!;
}

export async function releaseAgent(ctx: Ctx, ref: Input<typeof api.devices.releaseAgent>): Promise<Device> {
  const device = await findDevice(ctx, ref);
  const where = { deviceId: device.id, clonedAtNs: { not: null } };
  await ctx.db.prisma.agent.updateMany({ where, data: noLongerCloned });
  return withAgent(ctx, device);
}
