import type { Transaction } from "../db/transaction.ts";

/** Every kind of job, with what it is told. Organizations are served in turn, job by job. */
export interface JobData {
  /** Bring one import request to its end. */
  readonly ingest: { orgId: string; requestId: string };
  /** The same for a large file, which workers of their own take. */
  readonly "ingest-large": { orgId: string; requestId: string };
  /** Make the verified index of an imported recording that has none. */
  readonly "index-recording": { orgId: string; recordingId: string };
  /** Make the file of one import request of what is readable of another's. */
  readonly salvage: { orgId: string; requestId: string };
  /** Remove a stored object, or an unfinished upload, that no row names any more. Its name begins with its organization. */
  readonly "remove-object": { blobKey: string };
  /** Requeue what no live job owns. */
  readonly reconcile: Record<string, never>;
  /** Remove from the store what crashes left there. */
  readonly sweep: Record<string, never>;
}

export type JobName = keyof JobData;

export interface JobQueue {
  /** Queues a job in the caller's transaction: the job and the change that needs it commit together. */
  enqueue<N extends JobName>(tx: Transaction, job: NewJob<N>): Promise<void>;
  /** The same for an organization's recordings without an index; those that were asked for in this hour are left out. */
  enqueueIndexing(tx: Transaction, orgId: string, recordingIds: readonly string[]): Promise<void>;
}

export interface NewJob<N extends JobName> {
  readonly name: N;
  readonly data: JobData[N];
  readonly delaySeconds?: number;
}

export type JobHandlers = { readonly [N in JobName]: (data: JobData[N], signal: AbortSignal) => Promise<void> };
