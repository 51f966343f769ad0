import { contextOf } from "../../background/jobs/transaction-context.ts";
import type { ImportRequestModel } from "../../db/generated/models.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { nextImportStatus, noFailure } from "../../import-life/import-status.ts";
import { findLocked } from "../../import-life/lock-recording.ts";
import { loseData } from "../../import-life/lost-data.ts";
import type { Decision } from "./decide-recording.ts";
import { TakenOverError } from "./finish-import.ts";
import type { IngestDeps } from "./ingest-deps.ts";

/**
 * No file ends as a repeat of data that the object store has lost: an upload becomes the data of that recording, and a file from a device
 * becomes its own. Returns the request as it is then; undefined where the data is there.
 */
export async function replaceLost(
  deps: IngestDeps,
  request: ImportRequestModel,
  decision: Decision,
): Promise<ImportRequestModel | undefined> {
  const firstId = idOfFirst(decision);
  if (firstId === undefined) return undefined;
  const first = await deps.db.prisma.recording.findUnique({ where: { id: firstId }, select: { blobKey: true } });
  const blobKey = first?.blobKey ?? undefined;
  if (blobKey === undefined || (await deps.blobs.stat(blobKey))) return undefined;
  deps.log.error(
    { recordingId: firstId, blobKey },
    "the object store does not have the data of a recording; a copy came",
  );
  return withTransaction(deps.db, async (tx) => {
    if (request.recordingId === null) return becomeItsData(tx, request, { recordingId: firstId, blobKey });
    await loseData(contextOf(tx, deps), { recordingId: firstId, blobKey });
    return request;
  });
}

function idOfFirst(decision: Decision): string | undefined {
  if (decision.kind === "existing") return decision.recordingId;
  return decision.kind === "reject" && decision.code === "DuplicateContent" ? decision.duplicateOfId : undefined;
}

interface Lost {
  readonly recordingId: string;
  readonly blobKey: string;
}

/** The recording changes as if it had failed and its file had been sent again. */
export async function becomeItsData(
  tx: Transaction,
  { id, attempts, key }: ImportRequestModel,
  { recordingId, blobKey }: Lost,
): Promise<ImportRequestModel> {
  const lost = await findLocked(tx, recordingId);
  if (lost?.blobKey !== blobKey) throw new Error(`recording ${recordingId} changed at this moment`); // look again
  const hasEdgeCopy = lost.edgeFile !== null;
  const failed = nextImportStatus(lost.importStatus, "objectLost", hasEdgeCopy);
  const data = { importStatus: nextImportStatus(failed, "retry", hasEdgeCopy), ...noFailure };
  await tx.recording.update({ where: { id: recordingId }, data });
  const { count } = await tx.importRequest.updateMany({
    where: { id, attempts },
    data: { recordingId, key: key ?? lost.key },
  });
  if (count === 0) throw new TakenOverError(id);
  return tx.importRequest.findUniqueOrThrow({ where: { id } });
}
