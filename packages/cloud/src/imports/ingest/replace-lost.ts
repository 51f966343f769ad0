import type { ImportStatus } from "@downlink/protocol";
import { contextOf, type TransactionContext } from "../../background/jobs/transaction-context.ts";
import type { ImportRequestModel, RecordingModel } from "../../db/generated/models.ts";
import { withTransaction } from "../../db/transaction.ts";
import { cancelRequests } from "../../import-life/change-request.ts";
import { nextImportStatus, noFailure } from "../../import-life/import-status.ts";
import { findLocked } from "../../import-life/lock-recording.ts";
import { loseData, storedFaults } from "../../import-life/lost-data.ts";
import type { StoredDamage } from "../../import-life/stored-damage.ts";
import { isProofOld, type ProofTerms } from "../../import-life/stored-proof.ts";
import { isOfCustomer } from "../../store/blobs/object-key.ts";
import type { Decision } from "./decide-recording.ts";
import { TakenOverError } from "./finish-import.ts";
import type { IngestDeps } from "./ingest-deps.ts";
import { readStored } from "./read-stored.ts";

interface Repeat {
  readonly request: ImportRequestModel;
  readonly decision: Decision;
  /** With it there is time to read the data of the first recording again, where that was long ago. */
  readonly signal?: AbortSignal;
}

/**
 * No file ends as a repeat of data that the object store has lost, or that is damaged there: an upload becomes the data of that recording,
 * and a file from a device becomes its own. Returns the request as it is then; undefined where the data is there.
 */
export async function replaceLost(deps: IngestDeps, repeat: Repeat): Promise<ImportRequestModel | undefined> {
  const { request, decision, signal } = repeat;
  const firstId = idOfFirst(decision);
  if (firstId === undefined) return undefined;
  const first = await deps.db.prisma.recording.findUnique({ where: { id: firstId } });
  if (!first?.blobKey) return undefined;
  const damage = await findDamage(deps, { ...first, blobKey: first.blobKey }, signal);
  if (damage === undefined) return undefined;
  const lost = { recordingId: firstId, blobKey: first.blobKey };
  deps.log.error({ ...lost, damage }, "the object store does not have the data of a recording; a copy came");
  return withTransaction(deps.db, async (tx) => {
    const context = contextOf(tx, deps);
    if (request.recordingId === null) return becomeItsData(context, request, lost);
    await loseData(context, lost, storedFaults[damage]);
    return request;
  });
}

/** Data that was not read for long, or not since the store lost something, is read again, because the bytes that came are removed. */
async function findDamage(
  deps: IngestDeps,
  first: RecordingModel & { readonly blobKey: string },
  signal: AbortSignal | undefined,
): Promise<StoredDamage | undefined> {
  if (first.storedDamage !== null) return first.storedDamage;
  const object = await deps.blobs.stat(first.blobKey);
  if (!object) return "missing";
  if (isOfCustomer(first.blobKey)) return undefined;
  if (BigInt(object.sizeBytes) !== first.sizeBytes) return "truncated";
  if (!signal || !isProofOld(first, await readTerms(deps))) return undefined;
  return readStored(deps, { recordingId: first.id, signal });
}

async function readTerms({ db, clock, deleteProofAgeSeconds }: IngestDeps): Promise<ProofTerms> {
  const { damageSeenAtNs } = await db.prisma.deployment.findUniqueOrThrow({ where: { id: 1 } });
  return { damageSeenAtNs, proofAgeNs: BigInt(deleteProofAgeSeconds) * 1_000_000_000n, nowNs: clock.nowNs() };
}

function idOfFirst(decision: Decision): string | undefined {
  if (decision.kind === "existing") return decision.recordingId;
  return decision.kind === "reject" && decision.code === "DuplicateContent" ? decision.duplicateOfId : undefined;
}

interface Lost {
  readonly recordingId: string;
  readonly blobKey: string;
}

/** The recording changes as if it had failed and its file had been sent again. Its device need not send anything. */
export async function becomeItsData(
  context: TransactionContext,
  { id, attempts, key }: ImportRequestModel,
  { recordingId, blobKey }: Lost,
): Promise<ImportRequestModel> {
  const { tx } = context;
  const lost = await findLocked(tx, recordingId);
  if (lost?.blobKey !== blobKey || lost.importStatus === "importing")
    throw new Error(`recording ${recordingId} changed at this moment`); // look again
  await cancelRequests(context, [recordingId]);
  const events = ["objectLost", "fail", "retry"] as const;
  const importStatus = events.reduce<ImportStatus>(
    (status, event) => nextImportStatus(status, event, true),
    lost.importStatus,
  );
  await tx.recording.update({ where: { id: recordingId }, data: { importStatus, ...noFailure } });
  const { count } = await tx.importRequest.updateMany({
    where: { id, attempts },
    data: { recordingId, importId: lost.importId, key: key ?? lost.key },
  });
  if (count === 0) throw new TakenOverError(id);
  return tx.importRequest.findUniqueOrThrow({ where: { id } });
}
