// A piece is an object of its own, written before it is recorded; it counts from its record on. Once all of a part are
// there, this process reads them, compares the digest of the whole, and sends them to the bucket as one part.

import { createHash } from "node:crypto";
import { GetObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { algorithmOf, makeDigest } from "@downlink/protocol";
import { DigestMismatchError, PartsMissingError, PieceConflictError, PieceRefusedError } from "../blob-errors.ts";
import type { PartPlan, PartReceipt, PiecePlan } from "../blob-store.ts";
import { checkPart } from "../part-plan.ts";
import { checkPiece, endOfPieces, MOST_PARTS_IN_PIECES, placePiece } from "../piece-plan.ts";
import { fillVerified, refuseOther } from "../receive-part.ts";
import { hasStoredPart, md5Of } from "./multipart.ts";
import { newPieceName, pieceObject, removePieceObject, removePieceObjects } from "./piece-objects.ts";
import { isS3Error } from "./s3-errors.ts";
import { type ReceivingUploads, storePart, takeMemory } from "./s3-parts.ts";
import { durableParts, requireUpload, type S3Uploads } from "./s3-upload.ts";
import type { OpenUpload, StoredPiece, UploadRecords } from "./upload-records.ts";

/** BlobStore.listPieces */
export async function listPieces(uploads: S3Uploads, key: string, partNumber?: number): Promise<PiecePlan[]> {
  const upload = await requireUpload(uploads.records, key);
  const held = await uploads.records.listPieces(upload, partNumber);
  if (held.length === 0) return [];
  const whole = new Set((await durableParts(uploads, upload)).map(({ number }) => number));
  return held.filter((piece) => !whole.has(piece.partNumber)).map(({ name: _, ...piece }) => piece);
}

/** Throws what BlobStore.grantPieces throws; a piece that passes may be sent. */
export async function checkPiecesGrantable(
  records: UploadRecords,
  key: string,
  pieces: readonly PiecePlan[],
): Promise<void> {
  const { plan } = await requireUpload(records, key);
  for (const piece of pieces) checkPiece(plan, piece);
}

/** BlobStore.receivePiece */
export async function receivePiece(
  uploads: ReceivingUploads,
  key: string,
  { piece, body }: { piece: PiecePlan; body: AsyncIterable<Uint8Array> },
): Promise<void> {
  const { bucket, records, memory } = uploads;
  const upload = await requireUpload(records, key);
  checkPiece(upload.plan, piece);
  if (await isWhole(uploads, upload, piece.partNumber))
    throw new PieceConflictError(`part ${piece.partNumber} is stored as a whole already`);
  const isNext = (held: readonly StoredPiece[]) => comesNext(held, piece);
  if (!isNext(await records.listPieces(upload))) return;
  using lent = takeMemory(memory, piece.lengthBytes);
  const buffer = { add: async (bytes: Uint8Array, offset: number) => lent.bytes.set(bytes, offset) };
  const name = `the piece at byte ${piece.offset} of part ${piece.partNumber}`;
  await fillVerified(buffer, { ...piece, name }, body);
  const stored = { ...piece, name: newPieceName(piece.partNumber) };
  const content = { Body: lent.bytes, ContentMD5: md5Of(lent.bytes) };
  await bucket.client.send(new PutObjectCommand({ ...pieceObject(bucket, key, stored.name), ...content }));
  let isHeld = false;
  try {
    isHeld = await records.hold(upload, stored, isNext);
  } finally {
    if (!isHeld) await removePieceObject(bucket, key, stored.name);
  }
}

/** False: these very bytes are held already. Throws for a piece that leaves a gap, or one of too many parts. */
function comesNext(held: readonly StoredPiece[], piece: PiecePlan): boolean {
  const begun = new Set(held.map(({ partNumber }) => partNumber));
  if (!begun.has(piece.partNumber) && begun.size >= MOST_PARTS_IN_PIECES)
    throw new PieceRefusedError(
      `the parts ${[...begun].join(", ")} are in pieces; no other one may be until one of them is whole`,
    );
  const ofPart = held.filter(({ partNumber }) => partNumber === piece.partNumber);
  return placePiece(ofPart, piece) === "next";
}

async function isWhole({ bucket, records }: S3Uploads, upload: OpenUpload, number: number): Promise<boolean> {
  const isTaken = (await records.findTaken(upload, number)) !== undefined;
  return isTaken && (await hasStoredPart(bucket, upload, number)) === true;
}

/** BlobStore.composePart. Its pieces go once the bucket has the part, so that a crash in between is made good by the next call. */
export async function composePart(uploads: ReceivingUploads, key: string, part: PartPlan): Promise<PartReceipt> {
  const { records } = uploads;
  const upload = await requireUpload(records, key);
  checkPart(upload.plan, part);
  refuseOther(part, await records.findTaken(upload, part.number));
  if (!(await isWhole(uploads, upload, part.number))) await storePieces(uploads, upload, part);
  await forgetPieces(uploads, upload, part.number);
  return part;
}

async function storePieces(uploads: ReceivingUploads, upload: OpenUpload, part: PartPlan): Promise<void> {
  const { records, memory } = uploads;
  const held = await records.listPieces(upload, part.number);
  const heldBytes = endOfPieces(held);
  if (heldBytes !== part.lengthBytes) {
    if (await isWhole(uploads, upload, part.number)) return; // another call made it meanwhile
    throw new PartsMissingError(`of part ${part.number} the first ${heldBytes} of ${part.lengthBytes} bytes are held`);
  }
  using lent = takeMemory(memory, part.lengthBytes);
  if (await readPieces(uploads, { upload, held, into: lent.bytes, digest: part.digest }))
    return await storePart(uploads, { upload, part, bytes: lent.bytes });
  if (await isWhole(uploads, upload, part.number)) return;
  await forgetPieces(uploads, upload, part.number);
  throw new DigestMismatchError(
    `the pieces of part ${part.number} together do not have its digest; they are forgotten`,
  );
}

interface Reading {
  readonly upload: OpenUpload;
  readonly held: readonly StoredPiece[];
  readonly into: Uint8Array;
  readonly digest: string;
}

/** Whether together they are what has this digest. */
async function readPieces({ bucket }: S3Uploads, { upload, held, into, digest }: Reading): Promise<boolean> {
  const hash = createHash(algorithmOf(digest));
  for (const { name, offset, lengthBytes } of held) {
    const bytes = await readPiece(bucket, pieceObject(bucket, upload.key, name));
    if (bytes?.byteLength !== lengthBytes) return false;
    hash.update(bytes);
    into.set(bytes, offset);
  }
  return makeDigest(algorithmOf(digest), hash.digest("base64")) === digest;
}

async function readPiece({ client }: S3Uploads["bucket"], place: { Bucket: string; Key: string }) {
  try {
    const { Body } = await client.send(new GetObjectCommand(place));
    return await Body!.transformToByteArray();
  } catch (error) {
    if (isS3Error(error, "NoSuchKey", "NotFound")) return undefined;
    throw error;
  }
}

async function forgetPieces({ bucket, records }: S3Uploads, upload: OpenUpload, number: number): Promise<void> {
  await records.forgetPieces(upload, number);
  await removePieceObjects(bucket, upload.key, number);
}
