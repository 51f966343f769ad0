import type { Clock } from "../../core/clock.ts";
import type { Transaction } from "../../db/transaction.ts";
import type { JobQueue } from "./queue.ts";

/** The context that a change of several rows needs: its transaction, one time for all of them, and the jobs that commit with it. */
export interface TransactionContext {
  readonly tx: Transaction;
  readonly nowNs: bigint;
  readonly jobs: JobQueue;
}

/** The part of the context that is enough for a change that queues no job. */
export type Moment = Pick<TransactionContext, "tx" | "nowNs">;

export function contextOf(
  tx: Transaction,
  { jobs, clock }: { readonly jobs: JobQueue; readonly clock: Clock },
): TransactionContext {
  return { tx, jobs, nowNs: clock.nowNs() };
}
