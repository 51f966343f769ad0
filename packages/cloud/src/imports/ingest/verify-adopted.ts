import type { RecordingSummary } from "@downlink/recordings";
import type { RecordingModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import { storeContents } from "./store-contents.ts";

/**
 * The stored bytes of a recording that was taken from its manifest were read again, and are what that describes: from now on they count.
 * The agent that has the file hears of it.
 */
export async function verifyAdopted(
  tx: Transaction,
  { id: recordingId, orgId, projectId, deviceId, siteId }: RecordingModel,
  summary: RecordingSummary | undefined,
): Promise<void> {
  await tx.recording.update({ where: { id: recordingId }, data: { isUnverified: false } });
  if (summary && siteId !== null)
    await storeContents(tx, { owner: { recordingId, orgId, projectId, deviceId, siteId }, summary });
  const file = await tx.edgeFile.findUnique({ where: { recordingId }, select: { versionId: true, agentId: true } });
  if (!file) return;
  await tx.importRequest.updateMany({
    where: { recordingId, source: "edge", state: "complete", isAdopted: true },
    data: { ...file, isAcknowledged: false },
  });
}
