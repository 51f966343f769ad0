// A piece is an object of its own. This process or the sender writes it, then a row records it, and only from then on does it count. Once
// all pieces of a part exist, this process reads them, compares the digest of the part, and sends them to the bucket as one part.

import { createHash } from "node:crypto";
import { algorithmOf, makeDigest } from "@downlink/protocol";
import { DigestMismatchError, PartsMissingError, PieceConflictError } from "../blob-errors.ts";
import type { PartPlan, PartReceipt, PiecePlan } from "../blob-store.ts";
import { fillVerified, type KeepBeginning } from "../fill-verified.ts";
import { bufferInMemory } from "../part-buffer.ts";
import { checkPart } from "../part-plan.ts";
import { checkPiece, endOfPieces } from "../piece-plan.ts";
import { refuseOther } from "../receive-part.ts";
import { type ReceivingUploads, storePart, takeMemory } from "./bucket-parts.ts";
import { type BucketUploads, durableParts, requireUpload } from "./bucket-uploads.ts";
import { comesNext } from "./next-piece.ts";
import { newPieceName, pieceObject, removePieceObjects } from "./piece-objects.ts";
import type { OpenUpload, StoredPiece, UploadRecords } from "./upload-records.ts";

/** Implements BlobStore.listPieces. */
export async function listPieces(uploads: BucketUploads, key: string, partNumber?: number): Promise<PiecePlan[]> {
  const upload = await requireUpload(uploads.records, key);
  await uploads.recordArrived?.(upload, partNumber);
  const held = await uploads.records.listPieces(upload, partNumber);
  if (held.length === 0) return [];
  const whole = new Set((await durableParts(uploads, upload)).map(({ number }) => number));
  return held.filter((piece) => !whole.has(piece.partNumber)).map(({ name: _, ...piece }) => piece);
}

/** Throws what BlobStore.grantPieces throws if one of the pieces may not be sent. */
export async function checkPiecesGrantable(
  records: UploadRecords,
  key: string,
  pieces: readonly PiecePlan[],
): Promise<void> {
  const { plan } = await requireUpload(records, key);
  for (const piece of pieces) checkPiece(plan, piece);
}

/** Implements BlobStore.receivePiece. */
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
  const name = `the piece at byte ${piece.offset} of part ${piece.partNumber}`;
  const keep: KeepBeginning = (beginning, came) => receivePiece(uploads, key, { piece: beginning, body: came });
  await fillVerified(bufferInMemory(lent), { ...piece, name, keep }, body);
  const { keepsBeginning: _, ...plan } = piece;
  const stored = { ...plan, name: newPieceName(piece.partNumber) };
  await bucket.objects.put(pieceObject(key, stored.name), lent.bytes);
  let isHeld = false;
  try {
    isHeld = await records.hold(upload, stored, isNext);
  } finally {
    if (!isHeld) await bucket.objects.remove(pieceObject(key, stored.name));
  }
}

async function isWhole({ bucket, records }: BucketUploads, upload: OpenUpload, number: number): Promise<boolean> {
  const isTaken = (await records.findTaken(upload, number)) !== undefined;
  return isTaken && (await bucket.parts.has(upload, number)) === true;
}

/** Implements BlobStore.composePart. The pieces are removed once the bucket has the part, so that the next call repairs what a crash left. */
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
  await uploads.recordArrived?.(upload, part.number);
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

/** Reads the pieces into one buffer. Returns whether the part that they make has the digest. */
async function readPieces({ bucket }: BucketUploads, { upload, held, into, digest }: Reading): Promise<boolean> {
  const hash = createHash(algorithmOf(digest));
  for (const { name, offset, lengthBytes } of held) {
    const bytes = await bucket.objects.get(pieceObject(upload.key, name));
    if (bytes?.byteLength !== lengthBytes) return false;
    hash.update(bytes);
    into.set(bytes, offset);
  }
  return makeDigest(algorithmOf(digest), hash.digest("base64")) === digest;
}

async function forgetPieces({ bucket, records }: BucketUploads, upload: OpenUpload, number: number): Promise<void> {
  await records.forgetPieces(upload, number);
  await removePieceObjects(bucket.objects, upload.key, number);
}
