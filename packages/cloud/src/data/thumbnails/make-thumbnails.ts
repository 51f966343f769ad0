// After an import, a job reads a few messages of each camera, and makes small pictures of them in a thread. It fails nothing.

import { DecodeError } from "@downlink/messages/value";
import { joinStills, makeStills, type Still, type TopicFixes } from "@downlink/pictures/in-thread";
import { thumbnailCounts } from "@downlink/protocol";
import { ExportError } from "@downlink/recordings";
import type { Deps } from "../../calls/context/context.ts";
import { newId } from "../../db/ids.ts";
import { withTransaction } from "../../db/transaction.ts";
import { findHeldSources } from "../exports/select-sources.ts";
import type { ExportDeps } from "../exports/stream-selection.ts";
import { mayHaveThumbnails } from "./may-have-thumbnails.ts";
import { instantsOf, type Making, readPart, topicsOf } from "./read-part.ts";
import { readTrack, toGeoJson } from "./read-track.ts";
import type { StoredTopic } from "./thumbnail-rows.ts";

type MakeDeps = ExportDeps & Pick<Deps, "db" | "jobs">;

const PICTURES = /(^|[./])(CompressedImage|RawImage|Image)$/;
/** The most pixels of a thumbnail in either direction. */
const MOST_PIXELS = 160;
const LONGEST_MS = 120_000;

/**
 * Makes the thumbnails of a recording that has none yet, and may have some. Pictures that cannot be read are named in the row. Any other failure leaves no row, so that the job runs again when a list or a page asks.
 */
export async function makeThumbnails(deps: MakeDeps, recordingId: string, signal: AbortSignal): Promise<void> {
  const where = { AND: [{ id: recordingId, thumbnails: null }, mayHaveThumbnails] };
  const recording = await deps.db.prisma.recording.findFirst({
    where,
    include: {
      topics: { select: { topic: true, schemaName: true, messageCount: true } },
      spans: { orderBy: { startNs: "asc" } },
    },
  });
  if (!recording) return;
  const [held] = await findHeldSources(deps, { orgId: recording.orgId, recordingIds: [recordingId] });
  if (!held) return;
  try {
    const late = AbortSignal.timeout(LONGEST_MS);
    const making = { recording, source: held.source, signal: AbortSignal.any([signal, late]) };
    await keep(deps, making, await makeAll(deps, making, late));
  } catch (error) {
    signal.throwIfAborted();
    deps.log.warn({ err: error, recordingId }, "thumbnails were not made");
  }
}

interface CameraStills {
  readonly topic: string;
  readonly stills: Still[];
  readonly timesNs: bigint[];
}

interface Made {
  readonly cameras: readonly CameraStills[];
  readonly track: TopicFixes | undefined;
  /** Why there are none, or fewer than there could be. */
  readonly reason: string | undefined;
}

async function makeAll(deps: MakeDeps, making: Making, late: AbortSignal): Promise<Made> {
  const reasons: string[] = [];
  const attempt = async <T>(make: () => Promise<T>): Promise<T | undefined> => {
    try {
      late.throwIfAborted();
      return await make();
    } catch (error) {
      const isFinal = error instanceof DecodeError || error instanceof ExportError;
      if (!late.aborted && (making.signal.aborted || !isFinal)) throw error;
      reasons.push(isFinal ? error.message : "it took too long");
      return undefined;
    }
  };
  const cameras = await makeCameras(deps, making, { attempt, onProblem: (problem) => reasons.push(problem) });
  const track = await attempt(() => readTrack(deps, making));
  if (cameras.length === 0 && !track)
    reasons.push("it has no message of CompressedImage, Image, RawImage, NavSatFix or LocationFix that can be shown");
  return { cameras, track, reason: reasons[0] };
}

interface Trying {
  /** Returns undefined where nothing can be made; any other failure is thrown. */
  attempt<T>(make: () => Promise<T>): Promise<T | undefined>;
  onProblem(problem: string): void;
}

/** Reads the last message of each camera in each of twelve equal parts of the recording. */
async function makeCameras(deps: MakeDeps, making: Making, { attempt, onProblem }: Trying): Promise<CameraStills[]> {
  const all = topicsOf(making.recording, PICTURES);
  const topics = all.slice(0, thumbnailCounts.topics);
  const cameras = topics.map((topic): CameraStills => ({ topic, stills: [], timesNs: [] }));
  for (const instant of cameras.length === 0 ? [] : instantsOf(making.recording, thumbnailCounts.pictures))
    await attempt(async () => {
      const problem = await addStills(cameras, await readPart(deps, making, { ...instant, topics }));
      if (problem !== undefined) onProblem(problem);
    });
  if (all.length > topics.length) onProblem(`only ${topics.length} of its ${all.length} cameras have pictures`);
  return cameras.filter(({ stills }) => stills.length > 0);
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

/** Stores the pictures, and then their row. If the data went meanwhile, or the project makes none any more, the object goes again. */
async function keep(
  { db, blobs, jobs, clock }: MakeDeps,
  { recording: { id: recordingId, orgId }, source }: Making,
  { cameras, track, reason }: Made,
): Promise<void> {
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
  const storedTrack = track && { topic: track.topic, count: track.fixes.length, file: place(toGeoJson(track)) };
  const blobKey = pieces.length > 0 ? `${orgId}/${newId("thumb")}` : null;
  if (blobKey !== null) await blobs.put(blobKey, ReadableStream.from(pieces));
  await withTransaction(db, async (tx) => {
    await tx.$queryRaw`
      SELECT r.id FROM "Recording" r JOIN "Project" p ON p.id = r."projectId" WHERE r.id = ${recordingId} FOR UPDATE OF r FOR SHARE OF p`;
    const sameData = { id: recordingId, blobKey: source.blobKey, thumbnails: null };
    const wanted = await tx.recording.findFirst({
      where: { AND: [sameData, mayHaveThumbnails] },
      select: { id: true },
    });
    if (!wanted) return await jobs.enqueueRemovals(tx, blobKey === null ? [] : [blobKey]);
    const row = {
      recordingId,
      blobKey,
      reason: reason ?? null,
      topics: stored,
      track: storedTrack,
      madeAtNs: clock.nowNs(),
    };
    await tx.recordingThumbnails.create({ data: row });
  });
}
