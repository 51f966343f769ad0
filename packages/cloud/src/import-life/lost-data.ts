// The data of a recording is lost where the store has no such object, or other bytes than were imported. The recording keeps what it knew of
// it: an object that is back, or whole again, is the same one, because names are never used again. Meanwhile the edge is asked for the file.

import { formatTimestamp } from "@downlink/protocol";
import type { TransactionContext } from "../background/jobs/transaction-context.ts";
import type { Transaction } from "../db/transaction.ts";
import { cancelRequests } from "./change-request.ts";
import { edgeCopyOf } from "./edge-copy.ts";
import { forgetThumbnails, unlisted } from "./forget-data.ts";
import { LOST_PRIORITY } from "./import-request-rows.ts";
import { nextImportStatus, noDamage, noFailure } from "./import-status.ts";
import { findLocked, type LockedRecording } from "./lock-recording.ts";
import { queueImport } from "./queue-imports.ts";
import { publishRecording } from "./recording-events.ts";
import { noteDamageSeen, type StoredDamage, takeBackPermits } from "./stored-damage.ts";

/** Why data is lost, for programs and for people. */
export interface LossReason {
  readonly code: string;
  readonly text: string;
  /** Absent where a customer's bucket lacks the object: what lies there is the customer's. */
  readonly damage?: StoredDamage;
}

const REPAIR = "it is asked for again where the edge still has the file";

/** The reasons why data in our own store is lost. */
export const storedFaults: Readonly<Record<StoredDamage, Required<LossReason>>> = {
  missing: {
    damage: "missing",
    code: "ObjectMissing",
    text: `the object store does not have the data; ${REPAIR}`,
  },
  truncated: {
    damage: "truncated",
    code: "ObjectTruncated",
    text: `the stored data has another size than what was imported; ${REPAIR}`,
  },
  altered: {
    damage: "altered",
    code: "ObjectAltered",
    text: `the stored data is not what was imported; ${REPAIR}`,
  },
};

interface Lost {
  readonly recordingId: string;
  /** The key of the object. */
  readonly blobKey: string;
}

/** The recording says that its data is lost, and is asked for again where the edge has the file. Whatever was imported since stays. */
export async function loseData(context: TransactionContext, lost: Lost, reason: LossReason): Promise<boolean> {
  const recording = await findLocked(context.tx, lost.recordingId);
  return recording?.blobKey === lost.blobKey && noteLoss(context, recording, reason);
}

/** Says of a locked recording that its data is lost, and why. Returns false if it had none. */
export async function noteLoss(
  context: TransactionContext,
  recording: LockedRecording,
  reason: LossReason,
): Promise<boolean> {
  const { tx, nowNs } = context;
  const recordingId = recording.id;
  const importStatus = nextImportStatus(recording.importStatus, "objectLost", recording.edgeFile !== null);
  if (importStatus === recording.importStatus) return false;
  const { code: failureCode, text: failureText, damage } = reason;
  const damagedSinceNs = recording.damagedSinceNs ?? nowNs;
  const data = { importStatus, failureCode, failureText, ...(damage && { storedDamage: damage, damagedSinceNs }) };
  await tx.recording.update({ where: { id: recordingId }, data });
  await forgetThumbnails(context, recordingId);
  await tx.recordingAttachment.updateMany({ where: { recordingId }, data: { siteId: null } });
  await tx.recordingTopic.updateMany({ where: { recordingId }, data: unlisted });
  if (damage) {
    if (recording.storedDamage === null) await noteDamageSeen(context, [recording.blobKey]);
    const more = { damage: { reason: damage, since: formatTimestamp(damagedSinceNs) } };
    await publishRecording(tx, recordingId, { type: "recording.damaged", occurredAtNs: nowNs, more });
  }
  const permitted = damage ? await takeBackPermits(tx, recordingId) : [];
  for (const id of permitted) await queueImport(context, { recordingId: id, priority: LOST_PRIORITY });
  if (!permitted.includes(recordingId)) await askAgain(context, { ...recording, ...data });
  return true;
}

/** Asks for a file whose data was lost, last of all and not too often. */
export async function askAgain(context: TransactionContext, recording: LockedRecording): Promise<void> {
  const edgeFile = edgeCopyOf(recording, context.nowNs);
  if (recording.importStatus !== "failed" || !edgeFile || recording.failureCode === OTHER_CONTENT) return;
  if (await wasAskedEnough(context, { recordingId: recording.id, agentId: edgeFile.agentId })) return;
  await queueImport(context, { recordingId: recording.id, priority: LOST_PRIORITY });
}

/** The device has sent its file, and that has other content than the data that was lost. */
const OTHER_CONTENT = "ContentMismatch";
/** A store that lost much does not fill the link of a robot at once. */
const MOST_REPAIRS_OF_AGENT = 100;
const HOUR_NS = 3_600_000_000_000n;
/** The waits double from an hour up to sixteen. */
const MOST_DOUBLINGS = 4n;

interface Asked {
  readonly recordingId: string;
  readonly agentId: string;
}

async function wasAskedEnough({ tx, nowNs }: TransactionContext, { recordingId, agentId }: Asked): Promise<boolean> {
  const [{ open, asked, lastNs }] = await tx.$queryRaw<[{ open: bigint; asked: bigint; lastNs: bigint | null }]>`
    SELECT (SELECT count(*) FROM "ImportRequest" WHERE "agentId" = ${agentId} AND state = 'awaiting' AND source = 'edge' AND "isRepair") AS open,
      count(*) AS asked, max("createdAtNs") AS "lastNs"
    FROM "ImportRequest" WHERE "recordingId" = ${recordingId} AND "isRepair"`;
  if (open >= MOST_REPAIRS_OF_AGENT) return true;
  if (lastNs === null) return false;
  const doublings = asked > MOST_DOUBLINGS ? MOST_DOUBLINGS : asked - 1n;
  return nowNs - lastNs < HOUR_NS << doublings;
}

/** The object is there again: so is the data, and no agent needs to send it. */
export async function findDataAgain(context: TransactionContext, recording: LockedRecording): Promise<void> {
  const { tx } = context;
  const { id, siteId, edgeFile } = recording;
  await cancelRequests(context, [id]);
  const importStatus = nextImportStatus(recording.importStatus, "adopted", edgeFile !== null);
  const data = { importStatus, foundAgainAtNs: context.nowNs, ...noFailure, ...noDamage };
  await tx.recording.update({ where: { id }, data });
  await tx.recordingAttachment.updateMany({ where: { recordingId: id }, data: { siteId } });
  await relistTopics(tx, id);
}

async function relistTopics(tx: Transaction, id: string): Promise<void> {
  await tx.$executeRaw`
    UPDATE "RecordingTopic" t SET "importedProjectId" = r."projectId", "importedDeviceId" = r."deviceId",
      "importedStartNs" = r."startNs", "importedEndNs" = r."endNs"
    FROM "Recording" r WHERE r.id = t."recordingId" AND r.id = ${id}`;
}
