import { SALVAGE_RECORD_NAME } from "@downlink/protocol";
import { contextOf } from "../../background/jobs/transaction-context.ts";
import { ApiError } from "../../core/errors.ts";
import type { ImportRequestModel, UploadModel } from "../../db/generated/models.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { storeDelivery } from "../../import-life/delivery.ts";
import { writeBegun } from "../../keeping/manifests/write-manifests.ts";
import { postpone, startHeartbeat } from "./attempt.ts";
import { TakenOverError } from "./finish-import.ts";
import type { IngestDeps } from "./ingest-deps.ts";
import { toIngestError } from "./ingest-failure.ts";
import { quarantineImport } from "./ingest-outcomes.ts";
import { endStream } from "./stream-uploads.ts";
import { type TakenSalvage, takeSalvage } from "./take-salvage.ts";

/**
 * Makes the file of a salvage request from what is readable of another request's file, and hands it over to the ordinary import. It may run
 * twice, and may be killed anywhere: each attempt writes an object of its own, whose row exists before its first byte, and the first whole
 * one is delivered. A failure that the file causes ends the request; any other one is tried again later.
 */
export async function makeSalvage(deps: IngestDeps, requestId: string, signal: AbortSignal): Promise<void> {
  const taken = await takeSalvage(deps, requestId);
  if (!taken) return;
  const { request } = taken;
  const heart = startHeartbeat(deps, request.id, (nowNs) => showLife(deps, taken, nowNs));
  try {
    await deliver(deps, taken, await write(deps, taken, AbortSignal.any([signal, heart.stopped])));
  } catch (error) {
    if (error instanceof TakenOverError) return;
    if (signal.aborted) throw error; // this process stops, and the queue gives the job to another one
    const failure = toIngestError(error, request.attempts - request.attemptsBefore);
    if (failure) await quarantineImport(deps, request, failure);
    else await postpone(deps, request, { error: error as Error, states: ["awaiting"], job: "salvage" });
  } finally {
    heart.stop();
  }
}

/** Returns the salvage's size in bytes. A failure leaves nothing. */
async function write(deps: IngestDeps, { source, upload }: TakenSalvage, signal: AbortSignal): Promise<number> {
  try {
    await using reader = await deps.blobs.open(source.blobKey);
    await writeBegun(deps, upload.id);
    const record = { name: SALVAGE_RECORD_NAME, facts: provenanceOf(source, reader.sizeBytes) };
    const pieces = deps.indexer.salvage(reader, { fileName: source.filename, record, signal });
    return (await deps.blobs.put(upload.blobKey, pieces, { signal })).sizeBytes;
  } catch (error) {
    await endStream(deps, upload);
    throw error;
  }
}

type Source = Pick<ImportRequestModel, "id" | "filename" | "errorCode" | "errorText">;

/**
 * Names the source file in the same fields as an agent's salvage. The code that reads the file adds what was readable and what was lost.
 */
export function provenanceOf({ id, filename, errorCode, errorText }: Source, sizeBytes: number | bigint) {
  const why = { reasonCode: errorCode ?? "", reason: errorText ?? "" };
  return { requestId: id, path: filename, sizeBytes: `${sizeBytes}`, ...why };
}

/** A commit that failed may have happened all the same: the object is removed only after a refusal. */
async function deliver(deps: IngestDeps, taken: TakenSalvage, sizeBytes: number): Promise<void> {
  const { request, source, upload } = taken;
  const whole: UploadModel = { ...upload, sizeBytes: BigInt(sizeBytes) };
  try {
    await withTransaction(deps.db, async (tx) => {
      await requireFailed(tx, source.id);
      const { id, attempts } = request;
      // The import counts its own attempts from here, for its delays and its end.
      await tx.importRequest.updateMany({ where: { id, attempts }, data: { attemptsBefore: attempts } });
      await storeDelivery(contextOf(tx, deps), whole);
    });
  } catch (error) {
    const isSuperseded = error instanceof ApiError && error.code === "RequestSuperseded";
    if (!isSuperseded && !(error instanceof SourceRetriedError)) throw error;
    await endStream(deps, upload);
    throw isSuperseded ? new TakenOverError(request.id) : error;
  }
}

/** A file that is being imported again may become a whole recording, and then its salvage is not wanted any more. */
async function requireFailed(tx: Transaction, id: string): Promise<void> {
  const [row] = await tx.$queryRaw<
    Pick<ImportRequestModel, "state">[]
  >`SELECT state FROM "ImportRequest" WHERE id = ${id} FOR SHARE`;
  // A retry may make a whole recording of the same file.
  if (row?.state !== "error") throw new SourceRetriedError(id);
}

/** The next attempt waits for the end of that import, and then decides. */
class SourceRetriedError extends Error {
  constructor(requestId: string) {
    super(`import request ${requestId} was retried while its file was salvaged`);
    this.name = "SourceRetriedError";
  }
}

/** Says whether this attempt still owns the request and its upload, and marks them as alive. */
async function showLife({ db }: IngestDeps, { request, upload }: TakenSalvage, nowNs: bigint): Promise<boolean> {
  const data = { updatedAtNs: nowNs };
  const own = { id: request.id, attempts: request.attempts, state: "awaiting" } as const;
  const requests = await db.prisma.importRequest.updateMany({ where: own, data });
  const uploads = await db.prisma.upload.updateMany({ where: { id: upload.id, state: "open" }, data });
  return requests.count > 0 && uploads.count > 0;
}
