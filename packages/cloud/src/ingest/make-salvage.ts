import { SALVAGE_RECORD_NAME } from "@downlink/protocol";
import { ApiError } from "../core/errors.ts";
import type { ImportRequestModel, UploadModel } from "../db/generated/models.ts";
import { type Transaction, withTransaction } from "../db/transaction.ts";
import { storeDelivery } from "../import-life/delivery.ts";
import { contextOf } from "../jobs/transaction-context.ts";
import { beat, postpone } from "./attempt.ts";
import { TakenOverError } from "./finish-import.ts";
import type { IngestDeps } from "./ingest-deps.ts";
import { toIngestError } from "./ingest-failure.ts";
import { failImport } from "./ingest-outcomes.ts";
import { endStream } from "./stream-uploads.ts";
import { type TakenSalvage, takeSalvage } from "./take-salvage.ts";

/**
 * Makes the file of a salvage request, of what is readable of another request's, and hands it over to the ordinary import. It is safe
 * to run twice, and to be killed anywhere: each attempt writes an object of its own, whose row stands before its first byte, and the
 * first whole one is delivered. What the file itself brings about ends the request; anything else is tried again later.
 */
export async function makeSalvage(deps: IngestDeps, requestId: string, signal: AbortSignal): Promise<void> {
  const taken = await takeSalvage(deps, requestId);
  if (!taken) return;
  const { request } = taken;
  const heart = beat(deps, request.id, (nowNs) => showLife(deps, taken, nowNs));
  try {
    await deliver(deps, taken, await write(deps, taken, AbortSignal.any([signal, heart.stopped])));
  } catch (error) {
    if (error instanceof TakenOverError) return;
    if (signal.aborted) throw error; // this process stops: the queue gives the job to another one
    const failure = toIngestError(error, request.attempts - request.attemptsBefore);
    if (failure) await failImport(deps, request, failure);
    else await postpone(deps, request, { error: error as Error, states: ["awaiting"], job: "salvage" });
  } finally {
    heart.stop();
  }
}

/** Answers how many bytes the salvage has. What fails leaves nothing. */
async function write(deps: IngestDeps, { source, upload }: TakenSalvage, signal: AbortSignal): Promise<number> {
  try {
    await using reader = await deps.blobs.open(source.blobKey);
    const record = { name: SALVAGE_RECORD_NAME, facts: provenanceOf(source, reader.sizeBytes) };
    const pieces = deps.indexer.salvage(reader, { fileName: source.filename, record, signal });
    return (await deps.blobs.put(upload.blobKey, pieces, { signal })).sizeBytes;
  } catch (error) {
    await endStream(deps, upload);
    throw error;
  }
}

/** Of which file it is, in the words of an agent's salvage. What was readable and what was lost is added by whoever reads it. */
function provenanceOf({ id, filename, errorCode, errorText }: ImportRequestModel, sizeBytes: number) {
  const why = { reasonCode: errorCode ?? "", reason: errorText ?? "" };
  return { requestId: id, path: filename, sizeBytes: `${sizeBytes}`, ...why };
}

/** What fails in the commit may be done all the same: only what was refused is taken back. */
async function deliver(deps: IngestDeps, taken: TakenSalvage, sizeBytes: number): Promise<void> {
  const { request, source, upload } = taken;
  const whole: UploadModel = { ...upload, sizeBytes: BigInt(sizeBytes) };
  try {
    await withTransaction(deps.db, async (tx) => {
      await requireFailed(tx, source.id);
      const { id, attempts } = request;
      // The import's own delays and patience begin anew.
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

/** A file that is being imported again may end as a whole recording, and then nobody wants its salvage beside it. */
async function requireFailed(tx: Transaction, id: string): Promise<void> {
  const [row] = await tx.$queryRaw<
    Pick<ImportRequestModel, "state">[]
  >`SELECT state FROM "ImportRequest" WHERE id = ${id} FOR SHARE`;
  if (row?.state !== "error") throw new SourceRetriedError(id);
}

/** The next attempt waits for the end of that import, and then decides. */
class SourceRetriedError extends Error {
  constructor(requestId: string) {
    super(`import request ${requestId} was retried while its file was salvaged`);
    this.name = "SourceRetriedError";
  }
}

/** Whether this attempt still owns the request and its upload, which are then known to be alive. */
async function showLife({ db }: IngestDeps, { request, upload }: TakenSalvage, nowNs: bigint): Promise<boolean> {
  const data = { updatedAtNs: nowNs };
  const own = { id: request.id, attempts: request.attempts, state: "awaiting" } as const;
  const requests = await db.prisma.importRequest.updateMany({ where: own, data });
  const uploads = await db.prisma.upload.updateMany({ where: { id: upload.id, state: "open" }, data });
  return requests.count > 0 && uploads.count > 0;
}
