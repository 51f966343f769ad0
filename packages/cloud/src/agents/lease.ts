// A restart takes its lease over at once, known by the last lease or by the process that holds it: an agent notes
// each process before its first hello and names the former ones, so that a lease whose answer was lost in a crash or
// on the way costs nobody a minute.

import type { AgentCtx } from "../context/context.ts";
import { ApiError, refuse } from "../core/errors.ts";
import type { AgentModel } from "../db/generated/models.ts";
import { type Transaction, withTransaction } from "../db/transaction.ts";
import { byOwner } from "../polls/agent-owner.ts";
import { LEASE_NS } from "../polls/lease-renewals.ts";
import { isCloned } from "./clones.ts";

/**
 * Runs `work` in a transaction that holds the agent's lease: a stale agent changes nothing, and neither does a report whose
 * `sequence` is below that of one which was taken already. Renews the lease.
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
  const owner = byOwner(ctx.caller);
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
  /** The last lease that the agent's state directory held. */
  readonly lease: bigint | undefined;
  /** Processes that used the same state directory before: one of them may hold a lease that it never heard of. */
  readonly formerInstanceIds: readonly string[];
  readonly nowNs: bigint;
}

interface Lease {
  readonly leaseNumber: bigint;
  readonly leaseInstanceId: string;
  readonly leaseExpiresAtNs: bigint;
  /** Of the last report under this lease. */
  readonly reportSequence: bigint;
  /** Who held it when a later process took over. */
  readonly oustedInstanceId: string | null;
  readonly oustedReturns: number;
}

/**
 * Who holds the lease after a hello. The same process keeps it; a restart, which presents the last one or knows the process
 * that holds it for a former one, takes over at once; a live lease of somebody else is 409; an expired one is free. Who presents a
 * later one than is known here held it before this database was set back: numbers go on above it.
 */
export function takeLease(current: Lease | null, hello: Hello): Lease {
  const leaseExpiresAtNs = hello.nowNs + LEASE_NS;
  const anew = { leaseInstanceId: hello.instanceId, leaseExpiresAtNs, reportSequence: 0n };
  const isLater = knowsLaterLease(current, hello);
  const next = (isLater ? hello.lease! : (current?.leaseNumber ?? 0n)) + 1n;
  if (!current) return { ...anew, leaseNumber: next, oustedInstanceId: null, oustedReturns: 0 };
  const { leaseNumber, leaseInstanceId, reportSequence, oustedInstanceId, oustedReturns } = current;
  const isSame = leaseInstanceId === hello.instanceId;
  if (isSame && !isLater)
    return { leaseNumber, leaseInstanceId, leaseExpiresAtNs, reportSequence, oustedInstanceId, oustedReturns };
  const leftNs = current.leaseExpiresAtNs - hello.nowNs;
  const isRestart = isSame || hello.lease === leaseNumber || hello.formerInstanceIds.includes(leaseInstanceId);
  // One that has longer to live than any lease was given before this clock was set back: nobody waits years for its end.
  const isAlive = leftNs > 0n && leftNs <= 2n * LEASE_NS;
  if (isAlive && !isRestart) throw heldElsewhere(leftNs);
  const ousted =
    isRestart && !isLater
      ? { oustedInstanceId: leaseInstanceId, oustedReturns: 0 }
      : { oustedInstanceId, oustedReturns };
  return { ...anew, ...ousted, leaseNumber: next };
}

/** Beyond it nothing was ever given, and numbers would soon be no safe integers any more. */
const HIGHEST_CREDIBLE = 2n ** 52n;

/** Whether the agent held a lease that this database knows nothing of: it was set back to an earlier time. */
export function knowsLaterLease(current: Pick<Lease, "leaseNumber"> | null, { lease }: Pick<Hello, "lease">): boolean {
  return lease !== undefined && lease > (current?.leaseNumber ?? 0n) && lease < HIGHEST_CREDIBLE;
}

function heldElsewhere(leftNs: bigint): ApiError {
  const retryAfterSeconds = Number(leftNs / 1_000_000_000n) + 1;
  const message = "another agent works with this token; stop that one, or wait until its lease ends";
  return new ApiError("LeaseHeldElsewhere", message, { retryAfterSeconds });
}
