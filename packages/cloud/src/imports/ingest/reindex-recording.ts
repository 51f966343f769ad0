import { extensionOf, type RecordingSummary, recordingFormatOf } from "@downlink/recordings";
import { newIndexKey, removeIndex } from "../../background/indexing/index-key.ts";
import type { IndexedFile } from "../../background/indexing/thread-messages.ts";
import type { Moment } from "../../background/jobs/transaction-context.ts";
import type { Deps } from "../../calls/context/context.ts";
import type { RecordingModel } from "../../db/generated/models.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { markDamaged } from "../../import-life/mark-damaged.ts";
import { BlobNotFoundError } from "../../store/blobs/blob-errors.ts";
import type { BlobReader } from "../../store/blobs/blob-store.ts";
import { restoreCut } from "./restore-cut.ts";
import { storeActivity } from "./store-activity.ts";
import { storeContents } from "./store-contents.ts";
import { storeSpans } from "./store-spans.ts";
import { damageOf } from "./summary-rows.ts";

export type ReindexDeps = Pick<Deps, "db" | "blobs" | "clock" | "indexer" | "jobs" | "log">;

/**
 * - `made` the recording has a new index
 * - `kept` it has one already, or is not imported (any more)
 * - `changed` its stored bytes differ from those that were imported: it keeps its index, so that an export notices the difference
 * - `refused` it could not be imported today; it keeps what it has
 */
export type ReindexOutcome = "made" | "kept" | "changed" | "refused";

interface Reindex {
  readonly recordingId: string;
  readonly signal: AbortSignal;
  /** An existing index is made again. */
  readonly isForced?: boolean;
}

/**
 * Makes the verified index of an imported recording. It may run twice, and may be killed anywhere, because rows name objects before their
 * first byte.
 */
export async function reindexRecording(deps: ReindexDeps, reindex: Reindex): Promise<ReindexOutcome> {
  const recording = await begin(deps, reindex);
  if (!recording) return "kept";
  const { nextIndexKey, blobKey, path, format } = recording;
  const readAtNs = deps.clock.nowNs();
  await using reader = await openMarked(deps, blobKey!);
  const indexed = await deps.indexer.index(reader, {
    fileName: recordingFormatOf(path) === format ? path : `recording${extensionOf(format)}`,
    signal: reindex.signal,
    store: async (pieces) => void (await deps.blobs.put(nextIndexKey!, pieces, { signal: reindex.signal })),
  });
  return end(deps, recording, { ...indexed, readAtNs });
}

async function openMarked(deps: ReindexDeps, blobKey: string): Promise<BlobReader> {
  try {
    return await deps.blobs.open(blobKey);
  } catch (error) {
    if (error instanceof BlobNotFoundError) await markDamaged(deps, blobKey, "missing");
    throw error;
  }
}

/** Names the new index; one that another attempt had named is removed. */
async function begin(
  { db, jobs }: ReindexDeps,
  { recordingId: id, isForced }: Reindex,
): Promise<RecordingModel | undefined> {
  return withTransaction(db, async (tx) => {
    const [locked] = await tx.$queryRaw<{ id: string }[]>`SELECT id FROM "Recording" WHERE id = ${id} FOR UPDATE`;
    const recording = locked && (await tx.recording.findUnique({ where: { id } }));
    if (!recording?.blobKey || recording.importStatus !== "complete") return undefined;
    if (recording.indexKey !== null && !recording.isUnverified && !isForced) return undefined;
    await removeIndex({ tx, jobs }, { indexKey: recording.nextIndexKey });
    return tx.recording.update({ where: { id }, data: { nextIndexKey: newIndexKey(recording.orgId) } });
  });
}

interface Reread extends IndexedFile {
  readonly readAtNs: bigint;
}

async function end(deps: ReindexDeps, recording: RecordingModel, indexed: Reread): Promise<ReindexOutcome> {
  const { id, blobKey, nextIndexKey, contentSha256 } = recording;
  const { verdict } = indexed;
  const isChanged = contentSha256 !== null && contentSha256 !== indexed.contentSha256;
  const summary = !isChanged && "summary" in verdict ? verdict.summary : undefined;
  const isCurrent = await withTransaction(deps.db, async (tx) => {
    const [locked] = await tx.$queryRaw<{ indexKey: string | null }[]>`
      SELECT "indexKey" FROM "Recording"
      WHERE id = ${id} AND "blobKey" = ${blobKey} AND "nextIndexKey" = ${nextIndexKey} FOR UPDATE`;
    const unwanted = locked && summary ? locked.indexKey : nextIndexKey;
    await removeIndex({ tx, jobs: deps.jobs }, { indexKey: unwanted });
    if (!locked) return false;
    const made = summary && { indexKey: nextIndexKey, damage: damageOf(summary) };
    await tx.recording.update({
      where: { id },
      data: { nextIndexKey: null, ...made, ...(!isChanged && { verifiedAtNs: indexed.readAtNs }) },
    });
    if (!isChanged && recording.isUnverified)
      await verifyAdopted({ tx, nowNs: deps.clock.nowNs() }, recording, summary);
    if (!summary || recording.isUnverified) return true;
    await storeChannelKeys(tx, id, summary);
    await storeActivity(tx, id, summary);
    await storeSpans(tx, id, summary);
    return true;
  });
  if (!isCurrent) return "kept";
  if (isChanged) await markDamaged(deps, blobKey!, "altered");
  if (summary) return "made";
  const outcome = isChanged ? "changed" : "refused";
  const reason = "refusal" in verdict ? verdict.refusal : undefined;
  deps.log.error({ recordingId: id, blobKey, reason }, `a recording could not be indexed again: ${outcome}`);
  return outcome;
}

/**
 * The stored bytes of a recording that was taken from its manifest were read again, and are what that describes: from now on they count.
 * The agent that has the file hears of it.
 */
async function verifyAdopted(
  { tx, nowNs }: Moment,
  recording: RecordingModel,
  summary: RecordingSummary | undefined,
): Promise<void> {
  const { id: recordingId, orgId, projectId, deviceId, siteId } = recording;
  await tx.recording.update({ where: { id: recordingId }, data: { isUnverified: false } });
  if (summary && siteId !== null)
    await storeContents(tx, { owner: { recordingId, orgId, projectId, deviceId, siteId }, summary });
  if (summary) await restoreCut(tx, { recording, metadata: summary.metadata, nowNs });
  const file = await tx.edgeFile.findUnique({ where: { recordingId }, select: { versionId: true, agentId: true } });
  if (!file) return;
  await tx.importRequest.updateMany({
    where: { recordingId, source: "edge", state: "complete", isAdopted: true },
    data: { ...file, isAcknowledged: false },
  });
}

/** Stores what tells the channels of topics apart, for recordings whose topics were stored before it was. */
async function storeChannelKeys(tx: Transaction, recordingId: string, { topics }: RecordingSummary): Promise<void> {
  const keys = topics.filter(({ channelsKey }) => channelsKey !== undefined);
  const rows = JSON.stringify(keys.map(({ topic, version, channelsKey }) => ({ topic, version, channelsKey })));
  await tx.$executeRaw`
    UPDATE "RecordingTopic" t SET "channelsKey" = k."channelsKey"
    FROM jsonb_to_recordset(${rows}::jsonb) AS k(topic text, version text, "channelsKey" text)
    WHERE t."recordingId" = ${recordingId} AND t.topic = k.topic AND t.version = k.version`;
}
