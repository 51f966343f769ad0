import { contextOf, type TransactionContext } from "../../background/jobs/transaction-context.ts";
import type { UploadModel } from "../../db/generated/models.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { cancelRequests } from "../../import-life/change-request.ts";
import { moveRecording, storeDelivery } from "../../import-life/delivery.ts";
import type { LockedRecording } from "../../import-life/lock-recording.ts";
import type { Manifest } from "../../keeping/manifests/manifest.ts";
import type { AdoptionDeps } from "./adopt-imported.ts";
import { findOwners } from "./find-owners.ts";
import { findRecording } from "./find-recording.ts";
import { restoreRecording, restoreRequest, restoreUpload } from "./restore-rows.ts";

export interface FoundUpload {
  readonly manifest: Manifest;
  /** The size of the whole object; undefined if there is none. */
  readonly sizeBytes: number | undefined;
}

/**
 * - `received`: all bytes are stored, so it is a pending import again.
 * - `open`: its sender continues where it was.
 * - `known`: the database has it, with its end if it has ended.
 * - `homeless`: its organization does not exist here.
 */
export type ReopenOutcome = "received" | "open" | "known" | "homeless";

/** Continues an upload that never became a recording. It may be repeated. */
export async function reopenUpload(deps: AdoptionDeps, found: FoundUpload): Promise<ReopenOutcome> {
  const { manifest, sizeBytes } = found;
  return withTransaction(deps.db, async (tx) => {
    const context = contextOf(tx, deps);
    const recording = manifest.source === "edge" ? await findRecording(tx, manifest) : undefined;
    if (recording?.importStatus === "complete") return "known"; // the data for which it was sent exists already
    const upload = await tx.upload.findUnique({ where: { id: manifest.uploadId } });
    if (!(await isWanted(tx, found, upload))) return "known";
    if (!upload && !(await restore(context, manifest, recording))) return "homeless";
    if (sizeBytes === undefined) return "open";
    await deliver(context, manifest, sizeBytes);
    return "received";
  });
}

/** Only a request that waits for its file wants the upload. A part of it is useless if the upload is known, or if another one was begun. */
async function isWanted(tx: Transaction, { manifest, sizeBytes }: FoundUpload, upload: UploadModel | null) {
  if (upload && upload.state !== "open") return false;
  const { requestId: id } = manifest;
  const request = await tx.importRequest.findUnique({ where: { id }, select: { state: true } });
  if (request && request.state !== "awaiting") return false;
  return sizeBytes !== undefined || (await tx.upload.count({ where: openOf(manifest) })) === 0;
}

/** Makes the upload a pending import, because all of its bytes are stored. */
async function deliver(context: TransactionContext, manifest: Manifest, sizeBytes: number): Promise<void> {
  const { tx, nowNs } = context;
  const upload = await tx.upload.findUniqueOrThrow({ where: { id: manifest.uploadId } });
  const others = { ...openOf(manifest), id: { not: upload.id } };
  await tx.upload.updateMany({ where: others, data: { state: "abandoned", updatedAtNs: nowNs } });
  await storeDelivery(context, { ...upload, sizeBytes: BigInt(sizeBytes) });
}

function openOf({ requestId }: Manifest) {
  return { requestId, state: "open" } as const;
}

/** Inserts the rows that the database has lost. Returns false if nothing here owns them. */
async function restore(
  context: TransactionContext,
  manifest: Manifest,
  found: LockedRecording | undefined,
): Promise<boolean> {
  const { tx, nowNs } = context;
  const owners = await findOwners(tx, manifest, nowNs);
  if (!owners) return false;
  const isEdge = manifest.source === "edge";
  const recording = isEdge ? (found ?? (await restoreRecording(tx, manifest, owners))) : undefined;
  const isThere = (await tx.importRequest.count({ where: { id: manifest.requestId } })) > 0;
  if (recording && !isThere) await cancelRequests(context, [recording.id]); // requested again since, so it is on its way already
  if (!isThere) await restoreRequest(tx, manifest, { owners, recordingId: recording?.id ?? null, nowNs });
  await restoreUpload(tx, manifest, nowNs);
  if (recording) await moveRecording(tx, recording.id, { event: "request" });
  return true;
}
