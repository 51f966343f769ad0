import { EdgeAgent } from "@downlink/protocol";
import { z } from "zod";
import { type Complete, toComplete } from "../../core/complete.ts";
import type { AgentModel } from "../../db/generated/models.ts";

/** An operator who says that only one of two clones is left sets these columns: the agent is served again from its next hello on. */
export const noLongerCloned = { clonedAtNs: null, oustedInstanceId: null, oustedReturns: 0, leaseExpiresAtNs: 0n };

/** The facts that an agent reports in its hello, as they are stored. */
const Facts = z
  .object({
    host: EdgeAgent.pick({ hostname: true, platform: true, arch: true }),
    clockSkewMs: EdgeAgent.shape.clockSkewMs,
    takesCuts: z.boolean(),
  })
  .partial();

/** Returns whether the agent can import parts of files. One that has not said hello since its update cannot, as far as is known. */
export function takesCuts({ facts }: { readonly facts: unknown }): boolean {
  return Facts.safeParse(facts).data?.takesCuts ?? false;
}

type ShownAgent = Pick<AgentModel, "leaseExpiresAtNs" | "lastSeenAtNs" | "agentVersion" | "clonedAtNs"> & {
  readonly facts: unknown;
  readonly status: unknown;
};

/**
 * Answers what the agent last reported about itself. Facts that an earlier version stored in another form are left out, because they must
 * not hide the device.
 */
export function toEdgeAgent(row: ShownAgent, nowNs: bigint): Complete<EdgeAgent> {
  const { host, clockSkewMs } = Facts.safeParse(row.facts).data ?? {};
  const status = EdgeAgent.shape.status.safeParse(row.status ?? undefined);
  return {
    online: row.leaseExpiresAtNs > nowNs,
    lastSeenAt: row.lastSeenAtNs,
    version: row.agentVersion,
    hostname: host?.hostname,
    platform: host?.platform,
    arch: host?.arch,
    clockSkewMs,
    cloned: row.clonedAtNs !== null,
    status: toComplete(status.data),
  };
}
