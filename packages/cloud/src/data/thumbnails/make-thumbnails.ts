// After an import, a job reads a few messages of each camera, and makes small pictures of them in a thread. Whatever goes wrong there is said in the
// row, and fails nothing.

import { DecodeError } from "@downlink/messages/value";
import { makeStills, type TimedStills } from "@downlink/pictures/in-thread";
import { thumbnailCounts } from "@downlink/protocol";
import type { Deps } from "../../calls/context/context.ts";
import { ApiError } from "../../core/errors.ts";
import type { RecordingModel, RecordingTopicModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import { withTransaction } from "../../db/transaction.ts";
import { isOfCustomer } from "../../store/blobs/object-key.ts";
import type { StoredSource } from "../exports/export-selection.ts";
import { findHeldSources } from "../exports/select-sources.ts";
import { type ExportDeps, makeExport } from "../exports/stream-selection.ts";
import type { StoredTopic } from "./thumbnail-rows.ts";

type MakeDeps = ExportDeps & Pick<Deps, "db" | "jobs">;
type Recording = Pick<RecordingModel, "id" | "orgId" | "startNs" | "endNs"> & {
  readonly topics: readonly RecordingTopicModel[];
};

const PICTURES = /(^|[./])(CompressedImage|RawImage|Image)$/;
/** The most pixels of a thumbnail in either direction. */
const MOST_PIXELS = 160;
/** The most bytes that are read of a topic. */
const MAX_BYTES = 64_000_000;
const LONGEST_MS = 120_000;

/** Makes the thumbnails of a recording that has none yet, unless its project makes none or its data is not in our own store. */
export async function makeThumbnails(deps: MakeDeps, recordingId: string, signal: AbortSignal): Promise<void> {
  const where = { id: recordingId, thumbnails: null, project: { makesThumbnails: true } };
  const recording = await deps.db.prisma.recording.findFirst({ where, include: { topics: true } });
  if (!recording) return;
  const [held] = await findHeldSources(deps, { orgId: recording.orgId, recordingIds: [recordingId] });
  if (!held || isOfCustomer(held.source.blobKey)) return;
  const late = AbortSignal.timeout(LONGEST_MS);
  const made = await makeAll(deps, { recording, source: held.source, signal: AbortSignal.any([signal, late]) });
  signal.throwIfAborted();
  await keep(deps, recording, made);
}

interface Making {
  readonly recording: Recording;
  readonly source: StoredSource;
  readonly signal: AbortSignal;
}

interface Made {
  readonly topics: readonly { readonly topic: string; readonly stills: TimedStills }[];
  /** Why there are none, or fewer than there could be. */
  readonly reason: string | undefined;
}

async function makeAll(deps: MakeDeps, making: Making): Promise<Made> {
  const cameras = making.recording.topics
    .filter(({ schemaName, messageCount }) => PICTURES.test(schemaName) && messageCount > 0n)
    .sort((a, b) => (a.topic < b.topic ? -1 : 1))
    .slice(0, thumbnailCounts.topics);
  const topics: { topic: string; stills: TimedStills }[] = [];
  let reason = cameras.length === 0 ? "it has no topic with pictures" : undefined;
  for (const camera of cameras) {
    try {
      topics.push({ topic: camera.topic, stills: await makeOne(deps, making, camera) });
    } catch (error) {
      reason ??= `${camera.topic}: ${explain(deps, error)}`;
    }
  }
  return { topics, reason };
}

function explain({ log }: MakeDeps, error: unknown): string {
  if (error instanceof DecodeError || error instanceof ApiError) return error.message;
  log.warn({ err: error }, "thumbnails were not made");
  return "its messages could not be read";
}

/** Reads the last message at or before each of some times at equal distances, of which the first and the last are those of the topic. */
async function makeOne(deps: MakeDeps, making: Making, camera: RecordingTopicModel): Promise<TimedStills> {
  const startNs = camera.startNs ?? making.recording.startNs;
  const endNs = camera.endNs ?? making.recording.endNs;
  const first = await readAt(deps, making, { topic: camera.topic, atNs: startNs, lookbackNs: 0n });
  const count = Math.max(1, Math.min(thumbnailCounts.pictures, Math.floor(MAX_BYTES / first.byteLength)));
  const files = [first];
  const stepNs = count > 1 ? (endNs - startNs) / BigInt(count - 1) : 0n;
  for (let place = 1; place < count && stepNs > 0n; place += 1) {
    const atNs = place === count - 1 ? endNs : startNs + BigInt(place) * stepNs;
    files.push(await readAt(deps, making, { topic: camera.topic, atNs, lookbackNs: stepNs }));
  }
  return makeStills({ files, most: MOST_PIXELS });
}

interface Instant {
  readonly topic: string;
  readonly atNs: bigint;
  readonly lookbackNs: bigint;
}

/** Returns an MCAP file with one message of the topic, or with none where there is no message so shortly before. */
async function readAt(
  deps: MakeDeps,
  { recording, source, signal }: Making,
  { topic, atNs, lookbackNs }: Instant,
): Promise<Uint8Array> {
  const selection = {
    ...{ fileName: `${recording.id}.mcap`, orgId: recording.orgId, sources: [source], topicSets: [], topics: [topic] },
    ...{ startNs: String(atNs), endNs: String(atNs), includeAttachments: false },
    lastPerChannel: { lookbackNs: String(lookbackNs) },
    output: { format: "mcap", compression: "" } as const,
  };
  const taker = { owner: recording.orgId, token: recording.id };
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of makeExport(deps, { selection, taker, signal })) {
    bytes += piece.byteLength;
    if (bytes > MAX_BYTES) throw new DecodeError(`A message has more than ${MAX_BYTES / 1_000_000} MB.`);
    pieces.push(Buffer.from(piece));
  }
  return new Uint8Array(Buffer.concat(pieces));
}

/** Stores the pictures, and then their row. If the recording went meanwhile, or the project makes none any more, the object goes again. */
async function keep(deps: MakeDeps, { id: recordingId, orgId }: Recording, { topics, reason }: Made): Promise<void> {
  const { db, blobs, jobs, clock } = deps;
  const pieces: Uint8Array[] = [];
  let offset = 0;
  const place = (bytes: Uint8Array) => {
    const slice = { offset, sizeBytes: bytes.byteLength };
    offset += bytes.byteLength;
    pieces.push(bytes);
    return slice;
  };
  const stored = topics.map(({ topic, stills: { width, height, timesNs, strip, single } }): StoredTopic => {
    return { topic, width, height, timesNs: timesNs.map(String), single: place(single), strip: place(strip) };
  });
  const blobKey = stored.length > 0 ? `${orgId}/${newId("thumb")}` : null;
  if (blobKey !== null) await blobs.put(blobKey, ReadableStream.from(pieces));
  await withTransaction(db, async (tx) => {
    const [wanted] = await tx.$queryRaw<unknown[]>`
      SELECT r.id FROM "Recording" r JOIN "Project" p ON p.id = r."projectId"
      WHERE r.id = ${recordingId} AND r."importStatus" = 'complete' AND p."makesThumbnails"
        AND NOT EXISTS (SELECT FROM "RecordingThumbnails" t WHERE t."recordingId" = r.id)
      FOR UPDATE OF r FOR SHARE OF p`;
    if (!wanted) return await jobs.enqueueRemovals(tx, blobKey === null ? [] : [blobKey]);
    const row = { recordingId, blobKey, reason: reason ?? null, topics: stored, madeAtNs: clock.nowNs() };
    await tx.recordingThumbnails.create({ data: row });
  });
}
