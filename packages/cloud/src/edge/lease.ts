import { edgeLimits } from "@downlink/protocol";
import type { AgentCtx } from "../context.ts";
import type { AgentModel } from "../db/generated/models.ts";
import { type Transaction, withTransaction } from "../db/transaction.ts";
import { ApiError, refuse } from "../http/errors.ts";

const LEASE_NS = BigInt(edgeLimits.leaseSeconds) * 1_000_000_000n;

/** Runs `work` in a transaction that holds the device's lease: a stale agent changes nothing. Renews the lease. */
export function withLease<T>(ctx: AgentCtx, work: (tx: Transaction, agent: AgentModel) => Promise<T>): Promise<T> {
  return withTransaction(ctx.db, async (tx) => work(tx, await holdLease(tx, ctx)));
}

/** Locks the agent's row for the rest of the transaction and renews its lease; 409 where a newer agent took over. */
async function holdLease(tx: Transaction, ctx: AgentCtx): Promise<AgentModel> {
  const { deviceId, lease } = ctx.caller;
  if (lease === undefined) refuse("LeaseLost", "no lease was presented: say hello first");
  const nowNs = ctx.clock.nowNs();
  const { count } = await tx.agent.updateMany({
    where: { deviceId, leaseNumber: lease },
    data: { leaseExpiresAtNs: nowNs + LEASE_NS, lastSeenAtNs: nowNs },
  });
  if (count === 0) refuse("LeaseLost", `lease ${lease} was taken over by a newer agent: say hello again`);
  return tx.agent.findUniqueOrThrow({ where: { deviceId } });
}

interface Hello {
  readonly instanceId: string;
  /** The last lease that the agent's state directory held. */
  readonly lease: bigint | undefined;
  readonly nowNs: bigint;
}

interface Lease {
  readonly leaseNumber: bigint;
  readonly leaseInstanceId: string;
  readonly leaseExpiresAtNs: bigint;
}

/**
 * Who holds the lease after a hello. The same process keeps it; a restart that presents the last one takes over at once;
 * a live lease of somebody else is 409; an expired one is free.
 */
export function takeLease(current: Lease | null, hello: Hello): Lease {
  const leaseExpiresAtNs = hello.nowNs + LEASE_NS;
  if (!current) return { leaseNumber: 1n, leaseInstanceId: hello.instanceId, leaseExpiresAtNs };
  if (current.leaseInstanceId === hello.instanceId) return { ...current, leaseExpiresAtNs };
  const leftNs = current.leaseExpiresAtNs - hello.nowNs;
  if (leftNs > 0n && hello.lease !== current.leaseNumber) throw heldElsewhere(leftNs);
  return { leaseNumber: current.leaseNumber + 1n, leaseInstanceId: hello.instanceId, leaseExpiresAtNs };
}

function heldElsewhere(leftNs: bigint): ApiError {
  const retryAfterSeconds = Number(leftNs / 1_000_000_000n) + 1;
  const message = "another agent works with this device's token; stop that one, or wait until its lease ends";
  return new ApiError("LeaseHeldElsewhere", message, { retryAfterSeconds });
}
