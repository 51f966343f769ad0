import { isDeepStrictEqual } from "node:util";
import { type AgentStatus, api, edgeLimits } from "@downlink/protocol";
import { isCloudFailure } from "../cloud/describe-failure.ts";
import type { ServerClock } from "../cloud/server-clock.ts";
import type { CloudSession } from "../cloud/session.ts";
import type { Turns } from "../loops/turns.ts";
import { pause } from "../loops/wake-signal.ts";
import { describeStatus, type StatusContext } from "./describe-status.ts";

export interface HeartbeatContext extends StatusContext {
  readonly session: CloudSession;
  readonly serverClock: ServerClock;
  /** The turns of calls over the connection on which the agent polls for work. */
  readonly restTurns: Turns;
}

/**
 * Sends the agent's status to the cloud, until aborted. A heartbeat that is lost is not repeated, because the next one is newer.
 * Where nothing changed, it waits until the poll for work ends, which keeps the lease meanwhile: so an agent without work holds
 * one connection.
 */
export async function runHeartbeat(ctx: HeartbeatContext, signal: AbortSignal): Promise<void> {
  let lastSent: AgentStatus | undefined;
  while (!signal.aborted) {
    try {
      using _turn = lastSent && isSame(lastSent, await describeStatus(ctx)) ? await ctx.restTurns.take() : undefined;
      lastSent = await sendHeartbeat(ctx, signal);
    } catch (failure) {
      if (signal.aborted) return;
      if (!isCloudFailure(failure)) throw failure;
    }
    await pause(edgeLimits.heartbeatSeconds * 1000, signal);
  }
}

/** Free space differs each time, and the boot time may too; where they matter, there is a problem, which is compared. */
function isSame(lastSent: AgentStatus, status: AgentStatus): boolean {
  const kept = { disk: undefined, bootedAt: undefined };
  return isDeepStrictEqual({ ...lastSent, ...kept }, { ...status, ...kept });
}

async function sendHeartbeat(ctx: HeartbeatContext, signal: AbortSignal): Promise<AgentStatus> {
  const status = await describeStatus(ctx);
  const { serverTime } = await ctx.session.call(api.edge.status, status, { signal });
  ctx.serverClock.note(serverTime);
  return status;
}
