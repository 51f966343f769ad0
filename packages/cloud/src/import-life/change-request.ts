import { removeIndex } from "../background/indexing/index-key.ts";
import type { Moment, TransactionContext } from "../background/jobs/transaction-context.ts";
import { Prisma } from "../db/generated/client.ts";
import type { ImportRequestModel } from "../db/generated/models.ts";
import { type ImportRequestEvent, nextRequestState, statesBefore } from "./import-request-state.ts";
import { uploadStatesBefore } from "./upload-state.ts";

interface Change {
  readonly id: string;
  readonly event: ImportRequestEvent;
  /** The change is made only while this attempt owns the row: an attempt whose job another worker took over changes nothing. */
  readonly attempt?: number;
  readonly data?: RequestData;
}

/** The columns of a request that may change together with its state. The requester is not one of them. */
export type RequestData = Partial<Omit<ImportRequestModel, "id" | "orgId" | "state" | "requestedBy">>;

/** The index by error can hold this much of an error's text, in UTF-16 units. */
const MAX_ERROR_LENGTH = 600;

/** Moves a request by an event, as one compare-and-set; undefined if the event does not apply in its present state. */
export async function changeRequest({ tx, nowNs }: Moment, change: Change): Promise<ImportRequestModel | undefined> {
  const { id, event, attempt, data } = change;
  const errorText = data?.errorText?.slice(0, MAX_ERROR_LENGTH).toWellFormed();
  for (const state of statesBefore(event)) {
    const { count } = await tx.importRequest.updateMany({
      where: { id, state, ...(attempt !== undefined && { attempts: attempt }) },
      data: {
        ...data,
        ...(errorText !== undefined && { errorText }),
        state: nextRequestState(state, event)!,
        updatedAtNs: nowNs,
      },
    });
    if (count === 1) return tx.importRequest.findUniqueOrThrow({ where: { id } });
  }
  return undefined;
}

/**
 * Cancels every request of recordings that is not complete, because it is not wanted any more. A job removes its bytes after the commit.
 */
export async function cancelRequests(
  { tx, jobs, nowNs }: TransactionContext,
  recordingIds: readonly string[],
): Promise<void> {
  const open = statesBefore("cancel");
  // The lists are one parameter: a recording may have been requested any number of times.
  const ofThese = Prisma.sql`"recordingId" = ANY(${[...recordingIds]})`;
  const stored = await tx.$queryRaw<Pick<ImportRequestModel, "blobKey" | "indexKey">[]>`
    SELECT "blobKey", "indexKey" FROM "ImportRequest" WHERE ${ofThese} AND ("blobKey" IS NOT NULL OR "indexKey" IS NOT NULL)`;
  // An agent learns that an open request was cancelled; it learns nothing more about those that had ended.
  await tx.$executeRaw`
    UPDATE "ImportRequest" SET "isAcknowledged" = true
    WHERE ${ofThese} AND NOT "isAcknowledged" AND NOT (state = ANY(${open}) AND "agentId" IS NOT NULL)`;
  await tx.$executeRaw`
    UPDATE "ImportRequest"
    SET state = 'cancelled', "blobKey" = NULL, "siteObjectKey" = NULL, "indexKey" = NULL, "nextAttemptAtNs" = NULL, "updatedAtNs" = ${nowNs}
    WHERE ${ofThese} AND state = ANY(${open})`;
  for (const { blobKey, indexKey } of stored) {
    if (blobKey) await jobs.enqueue(tx, { name: "remove-object", data: { blobKey } });
    await removeIndex({ tx, jobs }, { indexKey });
  }
  await tx.$executeRaw`
    UPDATE "Upload" SET state = 'abandoned', "updatedAtNs" = ${nowNs}
    WHERE state = 'open' AND "requestId" IN (SELECT id FROM "ImportRequest" WHERE ${ofThese})`;
}

/** The open uploads accept no more bytes, and the sweep removes what they hold. */
export async function abandonUploads({ tx, nowNs }: Moment, requestIds: readonly string[]): Promise<void> {
  await tx.upload.updateMany({
    where: { requestId: { in: [...requestIds] }, state: { in: uploadStatesBefore("abandon") } },
    data: { state: "abandoned", updatedAtNs: nowNs },
  });
}

interface NewDelivery {
  readonly id: string;
  /** The change is made only while this attempt owns the request. */
  readonly attempt?: number;
  readonly data: RequestData;
}

const noFile = { blobKey: null, siteObjectKey: null, announcedSha256: null };

/**
 * Asks for the file again, from the device or as another salvage, and as another object; what is stored of it is removed. Returns undefined
 * if it is too late.
 */
export async function requestRedelivery(
  { tx, jobs, nowNs }: TransactionContext,
  delivery: NewDelivery,
): Promise<ImportRequestModel | undefined> {
  const { id, attempt } = delivery;
  const { blobKey } = await tx.importRequest.findUniqueOrThrow({ where: { id }, select: { blobKey: true } });
  const data = { pipelineStage: "Waiting for the device", ...delivery.data, ...noFile };
  const asked = await changeRequest({ tx, nowNs }, { id, event: "redeliver", attempt, data });
  if (!asked) return undefined;
  await tx.upload.updateMany({
    where: { requestId: id, state: { in: uploadStatesBefore("redeliver") } },
    data: { state: "abandoned", updatedAtNs: nowNs },
  });
  if (blobKey) await jobs.enqueue(tx, { name: "remove-object", data: { blobKey } });
  return asked;
}
