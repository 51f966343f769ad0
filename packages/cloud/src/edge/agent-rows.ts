import { EdgeAgent } from "@downlink/protocol";
import type { AgentModel } from "../db/generated/models.ts";

/** What an operator sets who says that one of two clones is left: it is served again, with its next hello. */
export const noLongerCloned = { clonedAtNs: null, oustedInstanceId: null, oustedReturns: 0, leaseExpiresAtNs: 0n };

interface Facts {
  readonly host: { readonly hostname: string; readonly platform: string; readonly arch: string };
  readonly clockSkewMs: number;
}

/** What an agent last said of itself, as others see it. */
export function toEdgeAgent(row: AgentModel, nowNs: bigint): EdgeAgent {
  const { host, clockSkewMs } = row.facts as unknown as Facts;
  const status = EdgeAgent.shape.status.safeParse(row.status ?? undefined);
  return {
    online: row.leaseExpiresAtNs > nowNs,
    lastSeenAt: row.lastSeenAtNs,
    version: row.agentVersion,
    ...host,
    clockSkewMs,
    cloned: row.clonedAtNs !== null,
    status: status.data,
  };
}
