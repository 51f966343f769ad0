// A link to the bucket is valid for one piece of exactly these bytes: length and MD5 are signed with it, and are in the name of the object.
// This process gets no message when a piece arrives. So a call that asks for the pieces looks into the bucket, and records those that come
// next. A piece counts from its record on, as one that came through this process does.

import { PutObjectCommand } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { base64Of, makeDigest } from "@downlink/protocol";
import { PieceConflictError, PieceRefusedError } from "../blob-errors.ts";
import type { PieceGrant, PiecePlan } from "../blob-store.ts";
import { type BucketUploads, durableParts, requireUpload } from "../buckets/bucket-uploads.ts";
import { checkPartsInPieces, comesNext } from "../buckets/next-piece.ts";
import { pieceObject } from "../buckets/piece-objects.ts";
import type { OpenUpload, StoredPiece } from "../buckets/upload-records.ts";
import { endOfPieces } from "../piece-plan.ts";
import { type DirectUploads, GRANT_SECONDS } from "./direct-parts.ts";

const NAME = /^(\d+)\.(\d+)-(\d+)-([0-9a-f]{32})$/;

/**
 * Returns a target in the bucket itself for a piece whose digest is an MD5. The piece cannot be refused later, so it is refused now if it
 * clearly may not come.
 */
export async function grantDirectPiece(
  { bucket, records }: DirectUploads,
  key: string,
  piece: PiecePlan,
): Promise<PieceGrant> {
  checkPartsInPieces(await records.listPieces(await requireUpload(records, key)), piece);
  const md5 = base64Of(piece.digest);
  const place = { Bucket: bucket.name, Key: bucket.prefix + pieceObject(key, nameOf(piece)) };
  const put = new PutObjectCommand({ ...place, ContentMD5: md5, ContentLength: piece.lengthBytes });
  const url = await getSignedUrl(bucket.client, put, { expiresIn: GRANT_SECONDS });
  return { offset: piece.offset, url, headers: { "content-md5": md5 } };
}

/** Records the pieces that have arrived and come next. Those that came too late are removed; those after a gap stay until the gap is filled. */
export async function recordArrived(uploads: BucketUploads, upload: OpenUpload, partNumber?: number): Promise<void> {
  const held = await uploads.records.listPieces(upload, partNumber);
  const known = new Set(held.map(({ name }) => name));
  const arrived = (await listArrived(uploads, upload, partNumber)).filter(({ name }) => !known.has(name));
  if (arrived.length === 0) return;
  const whole = new Set((await durableParts(uploads, upload)).map(({ number }) => number));
  for (const piece of arrived) {
    const isWanted = !whole.has(piece.partNumber) && (await recordNext(uploads, upload, piece));
    if (!isWanted) await uploads.bucket.objects.remove(pieceObject(upload.key, piece.name));
  }
}

/** Returns whether the object may stay. */
async function recordNext({ records }: BucketUploads, upload: OpenUpload, piece: StoredPiece): Promise<boolean> {
  let heldBytes = 0;
  let isRecorded = false;
  try {
    const isNew = await records.hold(upload, piece, (held) => {
      heldBytes = endOfPieces(held.filter(({ partNumber }) => partNumber === piece.partNumber));
      isRecorded = held.some(({ name }) => name === piece.name); // another process was quicker
      return !isRecorded && comesNext(held, piece);
    });
    return isNew || isRecorded;
  } catch (error) {
    if (error instanceof PieceRefusedError) return true;
    if (error instanceof PieceConflictError) return piece.offset > heldBytes;
    throw error;
  }
}

/** Returns the pieces in the order of parts and offsets; of two for one place the one that arrived first comes first. */
async function listArrived(
  { bucket }: BucketUploads,
  { key }: OpenUpload,
  partNumber?: number,
): Promise<StoredPiece[]> {
  const found: (StoredPiece & { readonly arrivedAtMs: number })[] = [];
  const own = pieceObject(key, "");
  for await (const object of bucket.objects.list(partNumber === undefined ? own : `${own}${partNumber}.`)) {
    const piece = readName(object.key.slice(own.length));
    if (piece) found.push({ ...piece, arrivedAtMs: object.modifiedAtMs });
  }
  found.sort((a, b) => a.partNumber - b.partNumber || a.offset - b.offset || a.arrivedAtMs - b.arrivedAtMs);
  return found.map(({ arrivedAtMs: _, ...piece }) => piece);
}

function nameOf({ partNumber, offset, lengthBytes, digest }: PiecePlan): string {
  const md5 = Buffer.from(base64Of(digest), "base64").toString("hex");
  return `${partNumber}.${offset}-${lengthBytes}-${md5}`;
}

/** Returns undefined for the object of a piece that came through this process. */
function readName(name: string): StoredPiece | undefined {
  const [, partNumber, offset, lengthBytes, md5] = NAME.exec(name) ?? [];
  if (md5 === undefined) return undefined;
  const digest = makeDigest("md5", Buffer.from(md5, "hex").toString("base64"));
  return { name, partNumber: Number(partNumber), offset: Number(offset), lengthBytes: Number(lengthBytes), digest };
}
