import type { AgentPoint, api, Input } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import { findAgentPoints } from "../agents/find-agent-points.ts";
import { findDevice } from "./find-device.ts";

export async function listAgentHistory(
  ctx: Ctx,
  { limit, offset, ...ref }: Input<typeof api.devices.listAgentHistory>,
): Promise<Complete<AgentPoint>[]> {
  const { id: deviceId } = await findDevice(ctx, ref);
  return findAgentPoints(ctx, { deviceId }, { limit, offset });
}
