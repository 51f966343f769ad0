import type { Transaction } from "../../db/transaction.ts";

/** Every kind of job, with its data. Organizations are served by turns, job by job. */
export interface JobData {
  /** Brings one import request to its end. */
  readonly ingest: { orgId: string; requestId: string };
  /** Does the same for a large file, which workers of their own take. */
  readonly "ingest-large": { orgId: string; requestId: string };
  /** Makes the verified index of an imported recording that has none. */
  readonly "index-recording": { orgId: string; recordingId: string };
  /** Reads the stored data of a recording, and says whether it is what was imported. */
  readonly "read-stored": { orgId: string; recordingId: string };
  /** Makes the file of one import request from what is readable of another's. */
  readonly salvage: { orgId: string; requestId: string };
  /** Makes the file behind a view link. */
  readonly "prepare-view": { orgId: string; viewId: string };
  /** Builds a training set. */
  readonly "build-training-set": { orgId: string; setId: string };
  /** Makes the thumbnails of an imported recording. */
  readonly "make-thumbnails": { orgId: string; recordingId: string };
  /** Looks at one object of a customer's bucket, and does what follows from what the bucket says now. */
  readonly "look-at-object": { orgId: string; siteId: string; name: string };
  /** Lists a customer's bucket, for what no notification said. */
  readonly "list-bucket": { orgId: string; siteId: string };
  /** Compares what a self-hosted site says that it has with what it should have. */
  readonly "judge-listed": { orgId: string; siteId: string };
  /** Removes a stored object, or an unfinished upload, that no row names any more. Its key begins with its organization. */
  readonly "remove-object": { blobKey: string };
  /** Begins the listings of customers' buckets that are due. */
  readonly "list-buckets": Record<string, never>;
  /** Queues again what no live job owns. */
  readonly reconcile: Record<string, never>;
  /** Removes from the store what crashes left there. */
  readonly sweep: Record<string, never>;
  /** Reads stored data that was not read for long. */
  readonly scrub: Record<string, never>;
  /** Makes a backup, if the operator chose a schedule. */
  readonly "back-up": Record<string, never>;
  /** Makes database and object store agree again after either was set back. */
  readonly "walk-store": Record<string, never>;
  /** Looks for objects that were missing. */
  readonly heal: Record<string, never>;
}

export type JobName = keyof JobData;

/** The kinds of job whose data name their organization. */
export type OwnedJobName = { [N in JobName]: JobData[N] extends { orgId: string } ? N : never }[JobName];

export interface JobQueue {
  /** Queues a job in the caller's transaction: the job and the change that needs it commit together. */
  enqueue<N extends JobName>(tx: Transaction, job: NewJob<N>): Promise<void>;
  /** Queues jobs of one kind, all of one organization, with one statement. */
  enqueueAll<N extends OwnedJobName>(tx: Transaction, name: N, data: readonly JobData[N][]): Promise<void>;
  /** Queues the removal of objects, now, with one statement. */
  enqueueRemovals(tx: Transaction, blobKeys: readonly string[]): Promise<void>;
  /** Queues the indexing of an organization's recordings without an index; those that were queued within the last hour are left out. */
  enqueueIndexing(tx: Transaction, orgId: string, recordingIds: readonly string[]): Promise<void>;
  /** Queues the making of thumbnails of an organization's recordings; those that were queued within the last two seconds are left out. */
  enqueueThumbnails(tx: Transaction, orgId: string, recordingIds: readonly string[]): Promise<void>;
  /** Queues the reading of an organization's recordings; those that were queued within the last ten minutes are left out. */
  enqueueReading(tx: Transaction, orgId: string, recordingIds: readonly string[]): Promise<void>;
}

export interface NewJob<N extends JobName> {
  readonly name: N;
  readonly data: JobData[N];
  readonly delaySeconds?: number;
}

export type JobHandlers = { readonly [N in JobName]: (data: JobData[N], signal: AbortSignal) => Promise<void> };
