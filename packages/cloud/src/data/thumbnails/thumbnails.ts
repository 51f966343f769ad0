import type { api, Input, Output } from "@downlink/protocol";
import type { Hono } from "hono";
import type { Env } from "../../calls/connections/env.ts";
import type { Ctx, Deps } from "../../calls/context/context.ts";
import { sendBlob } from "../../calls/data-plane/download.ts";
import { logBreak } from "../../calls/data-plane/link-request.ts";
import { openMadeLink } from "../../calls/data-plane/made-link.ts";
import { sliceOf } from "../../calls/data-plane/slice-of.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import { makerClaim } from "../../core/callers.ts";
import type { Complete } from "../../core/complete.ts";
import { ApiError } from "../../core/errors.ts";
import { signLink } from "../../core/signed-link.ts";
import type { Prisma } from "../../db/generated/client.ts";
import type { RecordingThumbnailsModel } from "../../db/generated/models.ts";
import { withTransaction } from "../../db/transaction.ts";
import { visibleTo } from "../../organization/projects/find-project.ts";
import { BlobNotFoundError } from "../../store/blobs/blob-errors.ts";
import type { BlobReader } from "../../store/blobs/blob-store.ts";
import { isStreamable } from "../exports/find-missing.ts";
import { findRecording } from "../recordings/find-recording.ts";
import { mayHaveThumbnails } from "./may-have-thumbnails.ts";
import { type Slice, StoredTopics, StoredTrack } from "./thumbnail-rows.ts";

type Contract = typeof api.thumbnails;

const PATH = "/data-plane/thumbnails";
const HOUR_MS = 3_600_000;
const KINDS = { jpg: "image/jpeg", geojson: "application/geo+json" } as const;
type Kind = keyof typeof KINDS;

export const thumbnails: Handlers<Contract> = { get: getThumbnails, list: listThumbnails };

async function getThumbnails(ctx: Ctx, ref: Input<Contract["get"]>): Promise<Complete<Output<Contract["get"]>>> {
  const { id, orgId, projectId, importStatus, storedDamage, siteObjectKey, location } = await findRecording(ctx, ref);
  const project = await ctx.db.prisma.project.findUnique({ where: { id: projectId } });
  const none = (reason: string) => ({ state: "none" as const, reason, topics: [], track: undefined });
  if (!project || project.thumbnails === "none") return none("the project makes no thumbnails");
  if (importStatus !== "complete") return none("the recording is not imported");
  if (siteObjectKey !== null) return none("its data is at a self-hosted site");
  if (location !== null && project.thumbnails !== "all")
    return none("its data is in a customer's bucket, and its project keeps no thumbnails of those");
  const row = await ctx.db.prisma.recordingThumbnails.findUnique({ where: { recordingId: id } });
  if (row) {
    const topics = StoredTopics.parse(row.topics).map(({ topic, width, height, timesNs, strip }) => {
      return { topic, times: timesNs.map(BigInt), width, height, link: linkSlice(ctx, row, strip) };
    });
    const track = row.track === null ? undefined : toTrack(ctx, row);
    const state = topics.length > 0 || track ? "ready" : "none";
    return { state, reason: row.reason ?? undefined, topics, track };
  }
  if (storedDamage !== null) return none("its stored data is damaged");
  await withTransaction(ctx.db, (tx) => ctx.jobs.enqueueThumbnails(tx, orgId, [id]));
  return { state: "pending", reason: undefined, topics: [], track: undefined };
}

function toTrack(ctx: Ctx, row: RecordingThumbnailsModel) {
  const { topic, count, file } = StoredTrack.parse(row.track);
  return { topic, count, link: linkSlice(ctx, row, { ...file, kind: "geojson" }) };
}

async function listThumbnails(
  ctx: Ctx,
  { recordingIds }: Input<Contract["list"]>,
): Promise<Complete<Output<Contract["list"]>>> {
  const asked = { AND: [{ id: { in: [...recordingIds] } }, visibleTo(ctx), mayHaveThumbnails] };
  const rows = await ctx.db.prisma.recordingThumbnails.findMany({ where: { recording: asked } });
  await makeMissing(ctx, asked);
  const found = rows.flatMap((row) => {
    const [first] = StoredTopics.parse(row.topics);
    if (!first) return [];
    const { topic, width, height, timesNs, single } = first;
    const time = BigInt(timesNs[timesNs.length >> 1]!);
    return [{ recordingId: row.recordingId, topic, time, width, height, link: linkSlice(ctx, row, single) }];
  });
  return { thumbnails: found };
}

/** Those that were imported before there were thumbnails get theirs when a list shows them. */
async function makeMissing({ db, jobs, caller }: Ctx, asked: Prisma.RecordingWhereInput): Promise<void> {
  const where = { AND: [asked, isStreamable, { thumbnails: null }] };
  const missing = await db.prisma.recording.findMany({ where, select: { id: true } });
  const ids = missing.map(({ id }) => id);
  if (ids.length > 0) await withTransaction(db, (tx) => jobs.enqueueThumbnails(tx, caller.orgId, ids));
}

/** Gives the same link for an hour, so that browsers need not fetch the picture again. */
function linkSlice(
  ctx: Ctx,
  { recordingId, blobKey }: RecordingThumbnailsModel,
  file: Slice & { kind?: Kind },
): string {
  const { offset, sizeBytes, kind = "jpg" } = file;
  const { caller, clock, signer, publicUrl } = ctx;
  const thisHour = Math.floor(Number(clock.nowNs() / 1_000_000n) / HOUR_MS);
  const path = `${PATH}/${recordingId}/${offset}.${kind}`;
  const place = { blobKey: blobKey!, sizeBytes: String(sizeBytes), offset: String(offset) };
  const made = { method: "GET", path, claims: { ...place, ...makerClaim(caller) } };
  return `${publicUrl()}${path}?${signLink(signer, { ...made, expiresAtMs: (thisHour + 2) * HOUR_MS })}`;
}

/** Serves the links to thumbnails. */
export function thumbnailRoute(app: Hono<Env>, deps: Deps): void {
  app.get(`${PATH}/:id/:fileName`, async (c) => {
    using link = await openMadeLink(c, deps);
    const { blobKey, offset, sizeBytes } = link.claims;
    const kind = c.req.path.endsWith(".geojson") ? "geojson" : "jpg"; // the link is signed with its path
    const slice = sliceOf(await openOrForget(deps, blobKey!), { offset: Number(offset), sizeBytes: Number(sizeBytes) });
    return await sendBlob(c, slice, {
      ...{ etag: `${blobKey!.split("/").at(-1)}-${offset}`, mediaType: KINDS[kind], fileName: `thumbnail.${kind}` },
      freshSeconds: HOUR_MS / 1000, // the link itself says which object it is of, and that never changes
      ...{ controller: link.gone, onFailure: logBreak(c, deps) },
    });
  });
}

/** After a restore of the database the object may be gone. Without a row the pictures are made again when they are asked for. */
async function openOrForget({ db, blobs }: Deps, blobKey: string): Promise<BlobReader> {
  try {
    return await blobs.open(blobKey);
  } catch (error) {
    if (!(error instanceof BlobNotFoundError)) throw error;
    await db.prisma.recordingThumbnails.deleteMany({ where: { blobKey } });
    throw new ApiError("NotFound", "these thumbnails are gone; ask for those of the recording again");
  }
}
