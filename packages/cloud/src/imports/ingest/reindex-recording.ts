import { extensionOf, recordingFormatOf } from "@downlink/recordings";
import { newIndexKey, removeIndex } from "../../background/indexing/index-key.ts";
import type { IndexedFile } from "../../background/indexing/thread-messages.ts";
import type { Deps } from "../../calls/context/context.ts";
import type { RecordingModel } from "../../db/generated/models.ts";
import { withTransaction } from "../../db/transaction.ts";
import { markDamaged } from "../../import-life/mark-damaged.ts";
import { BlobNotFoundError } from "../../store/blobs/blob-errors.ts";
import type { BlobReader } from "../../store/blobs/blob-store.ts";
import { storeActivity } from "./store-activity.ts";
import { storeChannelKeys } from "./store-channel-keys.ts";
import { storeSpans } from "./store-spans.ts";
import { damageOf } from "./summary-rows.ts";
import { verifyAdopted } from "./verify-adopted.ts";

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
    if (!isChanged && recording.isUnverified) await verifyAdopted(tx, recording, summary);
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
