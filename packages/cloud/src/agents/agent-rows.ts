import { EdgeAgent } from "@downlink/protocol";
import { z } from "zod";
import { asParsed, type Complete } from "../core/complete.ts";
import type { AgentModel } from "../db/generated/models.ts";

/** What an operator sets who says that one of two clones is left: it is served again, with its next hello. */
export const noLongerCloned = { clonedAtNs: null, oustedInstanceId: null, oustedReturns: 0, leaseExpiresAtNs: 0n };

/** What was true of it at its last hello, as it is kept. */
const Facts = z
  .object({
    host: EdgeAgent.pick({ hostname: true, platform: true, arch: true }),
    clockSkewMs: EdgeAgent.shape.clockSkewMs,
  })
  .partial();

type ShownAgent = Pick<AgentModel, "leaseExpiresAtNs" | "lastSeenAtNs" | "agentVersion" | "clonedAtNs"> & {
  readonly facts: unknown;
  readonly status: unknown;
};

/** What an agent last said of itself, as others see it. What an earlier version kept otherwise is left out: it must not hide the device. */
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
    status: asParsed(status.data),
  };
}
