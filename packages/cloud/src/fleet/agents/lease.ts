// A restarted agent takes its lease over at once. It proves its right by the last lease, or by naming the process that holds it: an agent
// notes the id of each of its processes before the first hello, and names the earlier ones. So an agent whose answer with a lease was lost
// need not wait for a minute.

import type { AgentCtx } from "../../calls/context/context.ts";
import { ApiError, refuse } from "../../core/errors.ts";
import type { AgentModel } from "../../db/generated/models.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { toAgentKey } from "../../process/polls/agent-owner.ts";
import { LEASE_NS } from "../../process/polls/lease-renewals.ts";
import { isCloned } from "./clones.ts";

/**
 * Runs `work` in a transaction that holds the agent's lease, and renews the lease. So an agent with an older lease changes nothing, and
 * neither does a report whose `sequence` is below that of a report which was taken already.
 */
export function withLease<T>(
  ctx: AgentCtx,
  work: (tx: Transaction, agent: AgentModel) => Promise<T>,
  sequence?: number,
): Promise<T> {
  return withTransaction(ctx.db, async (tx) => work(tx, await holdLease(tx, ctx, sequence)));
}

/** Locks the agent's row for the rest of the transaction and renews its lease; 409 where a newer agent or report came first. */
async function holdLease(tx: Transaction, ctx: AgentCtx, sequence: number | undefined): Promise<AgentModel> {
  const { lease } = ctx.caller;
  const owner = toAgentKey(ctx.caller);
  if (lease === undefined) refuse("LeaseLost", "no lease was presented: say hello first");
  const nowNs = ctx.clock.nowNs();
  const [agent] = await tx.agent.updateManyAndReturn({
    where: {
      ...owner,
      leaseNumber: lease,
      clonedAtNs: null,
      ...(sequence !== undefined && { reportSequence: { lte: sequence } }),
    },
    data: { leaseExpiresAtNs: nowNs + LEASE_NS, lastSeenAtNs: nowNs, isOnline: true, reportSequence: sequence },
  });
  if (agent) return agent;
  const current = await tx.agent.findUnique({ where: owner });
  if (current?.clonedAtNs != null) throw isCloned();
  if (current?.leaseNumber === lease)
    refuse("ReportSuperseded", `report ${sequence} came after report ${current.reportSequence}: it changed nothing`);
  refuse("LeaseLost", `lease ${lease} was taken over by a newer agent: say hello again`);
}

interface Hello {
  readonly instanceId: string;
  /** The last lease that is stored in the agent's state directory. */
  readonly lease: bigint | undefined;
  /** The ids of processes that used the same state directory before: one of them may hold a lease whose answer it never received. */
  readonly formerInstanceIds: readonly string[];
  readonly nowNs: bigint;
}

interface Lease {
  readonly leaseNumber: bigint;
  readonly leaseInstanceId: string;
  readonly leaseExpiresAtNs: bigint;
  /** The sequence number of the last report under this lease. */
  readonly reportSequence: bigint;
  /** The process that held the lease when a later process took it over. */
  readonly oustedInstanceId: string | null;
  readonly oustedReturns: number;
}

/**
 * Decides who holds the lease after a hello. The same process keeps it, and a restart takes over at once. If another process holds a live
 * lease, the hello is answered 409; an expired lease is free. An agent that presents a later lease than the known one held it before this
 * database was set back: the numbers go on above it.
 */
export function takeLease(current: Lease | null, hello: Hello): Lease {
  const leaseExpiresAtNs = hello.nowNs + LEASE_NS;
  const fresh = { leaseInstanceId: hello.instanceId, leaseExpiresAtNs, reportSequence: 0n };
  const isLater = knowsLaterLease(current, hello);
  const next = (isLater ? hello.lease! : (current?.leaseNumber ?? 0n)) + 1n;
  if (!current) return { ...fresh, leaseNumber: next, oustedInstanceId: null, oustedReturns: 0 };
  const { leaseNumber, leaseInstanceId, reportSequence, oustedInstanceId, oustedReturns } = current;
  const isSame = leaseInstanceId === hello.instanceId;
  if (isSame && !isLater)
    return { leaseNumber, leaseInstanceId, leaseExpiresAtNs, reportSequence, oustedInstanceId, oustedReturns };
  const leftNs = current.leaseExpiresAtNs - hello.nowNs;
  const isRestart = isSame || hello.lease === leaseNumber || hello.formerInstanceIds.includes(leaseInstanceId);
  // A lease with longer to live than any lease gets was given before this clock was set back: no agent has to wait years for its end.
  const isAlive = leftNs > 0n && leftNs <= 2n * LEASE_NS;
  if (isAlive && !isRestart) throw newLeaseHeldError(leftNs);
  const ousted =
    isRestart && !isLater
      ? { oustedInstanceId: leaseInstanceId, oustedReturns: 0 }
      : { oustedInstanceId, oustedReturns };
  return { ...fresh, ...ousted, leaseNumber: next };
}

/** No lease was ever given above this number, and numbers beyond it would soon not be safe integers any more. */
const HIGHEST_CREDIBLE = 2n ** 52n;

/** Says whether the agent held a lease that this database does not know, because the database was set back to an earlier time. */
export function knowsLaterLease(current: Pick<Lease, "leaseNumber"> | null, { lease }: Pick<Hello, "lease">): boolean {
  return lease !== undefined && lease > (current?.leaseNumber ?? 0n) && lease < HIGHEST_CREDIBLE;
}

function newLeaseHeldError(leftNs: bigint): ApiError {
  const retryAfterSeconds = Number(leftNs / 1_000_000_000n) + 1;
  const message = "another process works with this token; stop that one, or wait until its lease ends";
  return new ApiError("LeaseHeldElsewhere", message, { retryAfterSeconds });
}
