import { ApiFailure, NetworkFailure } from "@downlink/client";
import { api, edgeLimits } from "@downlink/protocol";
import { pause } from "./bell.ts";
import type { ServerClock } from "./cloud/server-clock.ts";
import type { CloudSession } from "./cloud/session.ts";
import { type StatusContext, tellStatus } from "./status/tell-status.ts";

export interface HeartbeatContext extends StatusContext {
  readonly session: CloudSession;
  readonly serverClock: ServerClock;
}

/** Tells the cloud how the agent fares, until aborted. What is lost is not repeated: the next one says more. */
export async function runHeartbeat(ctx: HeartbeatContext, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await sendHeartbeat(ctx, signal);
    } catch (failure) {
      if (signal.aborted) return;
      if (!(failure instanceof ApiFailure || failure instanceof NetworkFailure)) throw failure;
    }
    await pause(edgeLimits.heartbeatSeconds * 1000, signal);
  }
}

async function sendHeartbeat(ctx: HeartbeatContext, signal: AbortSignal): Promise<void> {
  const { serverTime } = await ctx.session.call(api.edge.status, await tellStatus(ctx), { signal });
  ctx.serverClock.note(serverTime);
}
