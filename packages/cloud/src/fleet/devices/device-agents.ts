import type { AgentPoint, api, Device, Input } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import type { DeviceModel } from "../../db/generated/models.ts";
import { noLongerCloned, toEdgeAgent } from "../agents/agent-rows.ts";
import { findAgentPoints } from "../agents/find-agent-points.ts";
import { toDevice } from "./device-rows.ts";
import { findDevice } from "./find-device.ts";

/** Answers a device with what its agent last reported about itself. */
export async function withAgent({ db, clock }: Ctx, row: DeviceModel): Promise<Complete<Device>> {
  const agent = await db.prisma.agent.findUnique({ where: { deviceId: row.id } });
  return { ...toDevice(row), agent: agent ? toEdgeAgent(agent, clock.nowNs()) : undefined };
}

export async function releaseAgent(ctx: Ctx, ref: Input<typeof api.devices.releaseAgent>): Promise<Complete<Device>> {
  const device = await findDevice(ctx, ref);
  const where = { deviceId: device.id, clonedAtNs: { not: null } };
  await ctx.db.prisma.agent.updateMany({ where, data: noLongerCloned });
  return withAgent(ctx, device);
}

export async function listAgentHistory(
  ctx: Ctx,
  { limit, offset, ...ref }: Input<typeof api.devices.listAgentHistory>,
): Promise<Complete<AgentPoint>[]> {
  const { id: deviceId } = await findDevice(ctx, ref);
  return findAgentPoints(ctx, { deviceId }, { limit, offset });
}
