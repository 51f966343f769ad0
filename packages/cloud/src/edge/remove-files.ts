import type { ImportStatus } from "@downlink/protocol";
import type { EdgeFileModel, RecordingModel } from "../db/generated/models.ts";
import type { Transaction } from "../db/transaction.ts";
import { changeRequest } from "../ingest/change-request.ts";
import { writeEvents } from "../outbox/outbox.ts";
import { nextImportStatus } from "../recordings/import-status.ts";

const GONE = { code: "EdgeCopyGone", text: "the file is no longer on the device" };

const BATCH = 1000;

interface Removal {
  readonly files: readonly EdgeFileModel[];
  readonly nowNs: bigint;
}

/** The agent says that these files are gone: their rows go, and their recordings take the consequence. spec: wire contract §4 */
export async function removeFiles(tx: Transaction, { files, nowNs }: Removal): Promise<void> {
  const inOrder = [...files].sort((a, b) => compare(a.recordingId ?? "", b.recordingId ?? "")); // everybody locks in one order
  for (let at = 0; at < inOrder.length; at += BATCH)
    await removeBatch(tx, { files: inOrder.slice(at, at + BATCH), nowNs });
}

async function removeBatch(tx: Transaction, { files, nowNs }: Removal): Promise<void> {
  const ids = files.flatMap((file) => file.recordingId ?? []);
  await tx.$queryRaw`SELECT id FROM "Recording" WHERE id = ANY(${ids}) ORDER BY id FOR UPDATE`;
  await tx.edgeFile.deleteMany({ where: { id: { in: files.map((file) => file.id) } } });
  const recordings = await tx.recording.findMany({ where: { id: { in: ids } } });
  const fates = Map.groupBy(recordings, ({ importStatus }) =>
    nextImportStatus(importStatus as ImportStatus, "edgeGone", false),
  );
  await removeRecordings(tx, fates.get("removed") ?? [], nowNs);
  for (const recording of fates.get("failed") ?? [])
    if (recording.importStatus !== "failed") await failRecording(tx, recording, nowNs);
}

/** Nobody asked for them: a card that was swapped may take a hundred thousand at once. */
async function removeRecordings(tx: Transaction, recordings: readonly RecordingModel[], nowNs: bigint): Promise<void> {
  await tx.recording.deleteMany({ where: { id: { in: recordings.map(({ id }) => id) } } });
  await writeEvents(
    tx,
    recordings.map(({ id, orgId, projectId }) => ({
      type: "recording.deleted" as const,
      orgId,
      projectId,
      occurredAtNs: nowNs,
      payload: { recording: { id } },
    })),
  );
}

async function failRecording(tx: Transaction, { id }: RecordingModel, nowNs: bigint): Promise<void> {
  const failed = { importStatus: "failed", failureCode: GONE.code, failureText: GONE.text };
  await tx.recording.update({ where: { id }, data: failed });
  for (const request of await tx.importRequest.findMany({ where: { recordingId: id, state: "awaiting" } }))
    await changeRequest(tx, {
      id: request.id,
      event: "fail",
      nowNs,
      data: { errorCode: GONE.code, errorText: GONE.text },
    });
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
