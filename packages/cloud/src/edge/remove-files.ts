import type { ImportStatus } from "@downlink/protocol";
import type { EdgeFileModel } from "../db/generated/models.ts";
import type { Transaction } from "../db/transaction.ts";
import { changeRequest } from "../ingest/change-request.ts";
import { writeEvent } from "../outbox/outbox.ts";
import { nextImportStatus } from "../recordings/import-status.ts";
import { type LockedRecording, lockRecording } from "../recordings/lock-recording.ts";

const GONE = { code: "EdgeCopyGone", text: "the file is no longer on the device" };

/** The agent says that these files are gone: their rows go, and their recordings take the consequence. spec: wire contract §4 */
export async function removeFiles(
  tx: Transaction,
  { files, nowNs }: { files: readonly EdgeFileModel[]; nowNs: bigint },
): Promise<void> {
  const recordingIds = files.flatMap((file) => file.recordingId ?? []).sort(); // one order of locking for everybody
  const recordings: LockedRecording[] = [];
  for (const id of recordingIds) recordings.push(await lockRecording(tx, id));
  await tx.edgeFile.deleteMany({ where: { id: { in: files.map((file) => file.id) } } });
  for (const recording of recordings) await loseEdgeCopy(tx, recording, nowNs);
}

async function loseEdgeCopy(tx: Transaction, recording: LockedRecording, nowNs: bigint): Promise<void> {
  const { id, orgId, projectId, importStatus } = recording;
  const next = nextImportStatus(importStatus as ImportStatus, "edgeGone", false);
  if (next === importStatus) return;
  if (next === "removed") {
    await tx.recording.delete({ where: { id } });
    await writeEvent(tx, {
      type: "recording.deleted",
      orgId,
      projectId,
      occurredAtNs: nowNs,
      payload: { recording: { id } },
    });
    return;
  }
  await tx.recording.update({
    where: { id },
    data: { importStatus: next, failureCode: GONE.code, failureText: GONE.text },
  });
  for (const request of await tx.importRequest.findMany({ where: { recordingId: id, state: "awaiting" } }))
    await changeRequest(tx, {
      id: request.id,
      event: "fail",
      nowNs,
      data: { errorCode: GONE.code, errorText: GONE.text },
    });
}
