// After an import, a job reads a few messages of each camera, and makes small pictures of them in a thread. It fails nothing.

import { DecodeError } from "@downlink/messages/value";
import { joinStills, makeStills, type Still } from "@downlink/pictures/in-thread";
import { thumbnailCounts } from "@downlink/protocol";
import type { Deps } from "../../calls/context/context.ts";
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
/** The most bytes of the messages of all cameras at one time. */
const MAX_BYTES = 64_000_000;
const LONGEST_MS = 120_000;

/**
 * Makes the thumbnails of a recording that has none yet, unless its project makes none or its data is not in our own store. Pictures that cannot
 * be read are named in the row. Any other failure leaves no row, so that the job runs again when a list or a page asks.
 */
export async function makeThumbnails(deps: MakeDeps, recordingId: string, signal: AbortSignal): Promise<void> {
  const where = { id: recordingId, thumbnails: null, project: { makesThumbnails: true } };
  const recording = await deps.db.prisma.recording.findFirst({ where, include: { topics: true } });
  if (!recording) return;
  const [held] = await findHeldSources(deps, { orgId: recording.orgId, recordingIds: [recordingId] });
  if (!held || isOfCustomer(held.source.blobKey)) return;
  try {
    await keep(deps, recording, await makeAll(deps, { recording, source: held.source, signal }));
  } catch (error) {
    signal.throwIfAborted();
    deps.log.warn({ err: error, recordingId }, "thumbnails were not made");
  }
}

interface Making {
  readonly recording: Recording;
  readonly source: StoredSource;
  readonly signal: AbortSignal;
}

interface CameraStills {
  readonly topic: string;
  readonly stills: Still[];
  readonly timesNs: bigint[];
}

interface Made {
  readonly cameras: readonly CameraStills[];
  /** Why there are none, or fewer than there could be. */
  readonly reason: string | undefined;
}

/** Reads the last message of each camera in each of twelve equal parts of the recording. */
async function makeAll(deps: MakeDeps, making: Making): Promise<Made> {
  const topics = making.recording.topics
    .filter(({ schemaName, messageCount }) => PICTURES.test(schemaName) && messageCount > 0n)
    .sort((a, b) => (a.topic < b.topic ? -1 : 1))
    .slice(0, thumbnailCounts.topics);
  const cameras = topics.map(({ topic }): CameraStills => ({ topic, stills: [], timesNs: [] }));
  if (cameras.length === 0) return { cameras, reason: "it has no topic with pictures" };
  const late = AbortSignal.timeout(LONGEST_MS);
  const signal = AbortSignal.any([making.signal, late]);
  let reason: string | undefined;
  for (const instant of instantsOf(making.recording)) {
    try {
      const problem = await addStills(cameras, await readAt(deps, { ...making, signal }, { ...instant, cameras }));
      reason ??= problem;
    } catch (error) {
      making.signal.throwIfAborted();
      if (!(error instanceof DecodeError) && !late.aborted) throw error;
      reason ??= error instanceof DecodeError ? error.message : "it took too long";
      if (late.aborted) break;
    }
  }
  return { cameras: cameras.filter(({ stills }) => stills.length > 0), reason };
}

/** Adds the stills of one time. Returns what is wrong with a picture of it. */
async function addStills(cameras: readonly CameraStills[], file: Uint8Array): Promise<string | undefined> {
  const wanted = cameras.map(({ topic, stills: [first] }) => {
    return { topic, size: first && { width: first.width, height: first.height } };
  });
  let problem: string | undefined;
  for (const { topic, timeNs, still } of await makeStills({ file, cameras: wanted, most: MOST_PIXELS })) {
    const { stills, timesNs } = cameras.find((camera) => camera.topic === topic)!;
    if ("problem" in still) problem ??= `${topic}: ${still.problem}`;
    else if (timeNs !== timesNs.at(-1)) {
      stills.push(still);
      timesNs.push(timeNs);
    }
  }
  return problem;
}

interface Instant {
  readonly atNs: bigint;
  readonly lookbackNs: bigint;
}

/** Returns the ends of equal parts of a recording; one where it has no length. */
function instantsOf({ startNs, endNs }: Recording): Instant[] {
  const lengthNs = endNs - startNs;
  const count = lengthNs > 0n ? BigInt(thumbnailCounts.pictures) : 1n;
  return Array.from({ length: Number(count) }, (_, place) => {
    return { atNs: startNs + (lengthNs * BigInt(place + 1)) / count, lookbackNs: lengthNs / count + 1n };
  });
}

type Reading = Instant & { readonly cameras: readonly CameraStills[] };

/** Returns an MCAP file with the last messages of the cameras that came so shortly before, or at, a time. */
async function readAt(
  deps: MakeDeps,
  { recording, source, signal }: Making,
  { cameras, atNs, lookbackNs }: Reading,
): Promise<Uint8Array> {
  const selection = {
    ...{ fileName: `${recording.id}.mcap`, orgId: recording.orgId, sources: [source], topicSets: [] },
    ...{ topics: cameras.map(({ topic }) => topic), startNs: String(atNs), endNs: String(atNs) },
    ...{ includeAttachments: false, lastPerChannel: { lookbackNs: String(lookbackNs) } },
    output: { format: "mcap", compression: "" } as const,
  };
  const taker = { owner: recording.orgId, token: recording.id };
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of makeExport(deps, { selection, taker, signal })) {
    bytes += piece.byteLength;
    if (bytes > MAX_BYTES)
      throw new DecodeError(`The pictures of one time have more than ${MAX_BYTES / 1_000_000} MB.`);
    pieces.push(Buffer.from(piece));
  }
  return new Uint8Array(Buffer.concat(pieces));
}

/** Stores the pictures, and then their row. If the recording went meanwhile, or the project makes none any more, the object goes again. */
async function keep(deps: MakeDeps, { id: recordingId, orgId }: Recording, { cameras, reason }: Made): Promise<void> {
  const { db, blobs, jobs, clock } = deps;
  const pieces: Uint8Array[] = [];
  let offset = 0;
  const place = (bytes: Uint8Array) => {
    const slice = { offset, sizeBytes: bytes.byteLength };
    offset += bytes.byteLength;
    pieces.push(bytes);
    return slice;
  };
  const stored: StoredTopic[] = [];
  for (const { topic, stills, timesNs } of cameras) {
    const { width, height, strip, single } = await joinStills(stills);
    stored.push({ topic, width, height, timesNs: timesNs.map(String), single: place(single), strip: place(strip) });
  }
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
