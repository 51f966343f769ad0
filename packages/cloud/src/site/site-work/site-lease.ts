import type { SiteCtx } from "../../calls/context/context.ts";
import { refuse } from "../../core/errors.ts";
import type { SiteProcessModel } from "../../db/generated/models.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { takeLease } from "../../fleet/agents/lease.ts";
import { LEASE_NS } from "../../process/polls/lease-renewals.ts";

type Lease = Pick<SiteProcessModel, "leaseNumber" | "leaseInstanceId" | "leaseExpiresAtNs">;

interface Hello {
  readonly instanceId: string;
  readonly formerInstanceIds: readonly string[];
  readonly lease: bigint | undefined;
  readonly nowNs: bigint;
}

/** Decides who holds a site's lease after a hello, by the rules for agents. */
export function takeSiteLease(current: Lease | null, hello: Hello): Lease {
  const former = current && { ...current, reportSequence: 0n, oustedInstanceId: null, oustedReturns: 0 };
  const { leaseNumber, leaseInstanceId, leaseExpiresAtNs } = takeLease(former, hello);
  return { leaseNumber, leaseInstanceId, leaseExpiresAtNs };
}

/** Runs `work` in a transaction that holds the site's lease, and renews it: a process with an older lease changes nothing. */
export function withSiteLease<T>(ctx: SiteCtx, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return withTransaction(ctx.db, async (tx) => {
    await holdLease(tx, ctx);
    return work(tx);
  });
}

async function holdLease(tx: Transaction, { caller, clock }: SiteCtx): Promise<void> {
  const { siteId, lease } = caller;
  if (lease === undefined) refuse("LeaseLost", "no lease was presented: say hello first");
  const nowNs = clock.nowNs();
  const { count } = await tx.siteProcess.updateMany({
    where: { siteId, leaseNumber: lease },
    data: { leaseExpiresAtNs: nowNs + LEASE_NS, lastSeenAtNs: nowNs },
  });
  if (count === 0) refuse("LeaseLost", `lease ${lease} was taken over by a newer process: say hello again`);
}
