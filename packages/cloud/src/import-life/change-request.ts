import { Prisma } from "../db/generated/client.ts";
import type { ImportRequestModel } from "../db/generated/models.ts";
import { removeIndex } from "../indexing/index-key.ts";
import type { Moment, TransactionContext } from "../jobs/transaction-context.ts";
import { type ImportRequestEvent, nextRequestState, statesBefore } from "./import-request-state.ts";

interface Change {
  readonly id: string;
  readonly event: ImportRequestEvent;
  /** The change is made only while this attempt owns the row: a job that was taken over changes nothing. */
  readonly attempt?: number;
  readonly data?: RequestData;
}

/** What may change of a request beside its state, whoever asked for it. */
export type RequestData = Partial<Omit<ImportRequestModel, "id" | "orgId" | "state" | "requestedBy">>;

/** The index by error can hold so much of an error's text, in UTF-16 units. */
const MAX_ERROR_LENGTH = 600;

/** Moves a request by an event, as one compare-and-set; undefined where the event has no place any more. */
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

/** Ends every request of recordings that is not complete: nobody wants it any more. Its bytes go after the commit, by a job. */
export async function cancelRequests(
  { tx, jobs, nowNs }: TransactionContext,
  recordingIds: readonly string[],
): Promise<void> {
  const open = statesBefore("cancel");
  // Lists as one parameter: a recording may have been asked for any number of times.
  const ofThese = Prisma.sql`"recordingId" = ANY(${[...recordingIds]})`;
  const stored = await tx.$queryRaw<Pick<ImportRequestModel, "blobKey" | "indexKey">[]>`
    SELECT "blobKey", "indexKey" FROM "ImportRequest" WHERE ${ofThese} AND ("blobKey" IS NOT NULL OR "indexKey" IS NOT NULL)`;
  // An agent learns that what it was asked for is cancelled; it learns nothing more of what had ended.
  await tx.$executeRaw`
    UPDATE "ImportRequest" SET "isAcknowledged" = true
    WHERE ${ofThese} AND NOT "isAcknowledged" AND NOT (state = ANY(${open}) AND "agentId" IS NOT NULL)`;
  await tx.$executeRaw`
    UPDATE "ImportRequest"
    SET state = 'cancelled', "blobKey" = NULL, "indexKey" = NULL, "nextAttemptAtNs" = NULL, "updatedAtNs" = ${nowNs}
    WHERE ${ofThese} AND state = ANY(${open})`;
  for (const { blobKey, indexKey } of stored) {
    if (blobKey) await jobs.enqueue(tx, { name: "remove-object", data: { blobKey } });
    await removeIndex({ tx, jobs }, { indexKey });
  }
  await tx.$executeRaw`
    UPDATE "Upload" SET state = 'abandoned', "updatedAtNs" = ${nowNs}
    WHERE state = 'open' AND "requestId" IN (SELECT id FROM "ImportRequest" WHERE ${ofThese})`;
}

/** What is open takes no more bytes, and what it holds is removed in time. */
export async function abandonUploads({ tx, nowNs }: Moment, requestIds: readonly string[]): Promise<void> {
  await tx.upload.updateMany({
    where: { requestId: { in: [...requestIds] }, state: "open" },
    data: { state: "abandoned", updatedAtNs: nowNs },
  });
}

interface NewDelivery {
  readonly id: string;
  /** Only while this attempt owns the request. */
  readonly attempt?: number;
  readonly data: RequestData;
}

/**
 * The file is to come anew, from the device or as another salvage, and as another object; what is stored of it goes. Undefined where it
 * is too late.
 */
export async function askAnew(
  { tx, jobs, nowNs }: TransactionContext,
  delivery: NewDelivery,
): Promise<ImportRequestModel | undefined> {
  const { id, attempt } = delivery;
  const { blobKey } = await tx.importRequest.findUniqueOrThrow({ where: { id }, select: { blobKey: true } });
  const data = { pipelineStage: "Waiting for the device", ...delivery.data, blobKey: null, announcedSha256: null };
  const asked = await changeRequest({ tx, nowNs }, { id, event: "redeliver", attempt, data });
  if (!asked) return undefined;
  await tx.upload.updateMany({
    where: { requestId: id, state: { in: ["open", "stored"] } },
    data: { state: "abandoned", updatedAtNs: nowNs },
  });
  if (blobKey) await jobs.enqueue(tx, { name: "remove-object", data: { blobKey } });
  return asked;
}
