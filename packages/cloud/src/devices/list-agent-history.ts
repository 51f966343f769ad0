import type { AgentPoint, api, Input } from "@downlink/protocol";
import type { Ctx } from "../context.ts";
import { findDevice } from "./find-device.ts";

/** As a job keeps it; see edge/agent-points.ts */
export async function listAgentHistory(
  ctx: Ctx,
  { limit, offset, ...ref }: Input<typeof api.devices.listAgentHistory>,
): Promise<AgentPoint[]> {
  const { id: deviceId } = await findDevice(ctx, ref);
  const rows = await ctx.db.prisma.agentPoint.findMany({
    where: { agent: { deviceId } },
    orderBy: { atNs: "asc" },
    take: limit,
    skip: offset,
  });
  return rows.map(({ atNs, freeBytes, bytesPerSecond, problems }) => {
    return { at: atNs, freeBytes: freeBytes === null ? undefined : Number(freeBytes), bytesPerSecond, problems };
  });
}
