import { createHash, randomBytes } from "node:crypto";
import { type DigestAlgorithm, makeDigest } from "@downlink/protocol";
import type { BlobReader, PartPlan, PiecePlan } from "../blob-store.ts";

/** Cuts `bytes` into pieces of at most `pieceBytes`. */
export async function* inPieces(bytes: Uint8Array, pieceBytes = 1000): AsyncGenerator<Uint8Array, void> {
  for (let offset = 0; offset < bytes.byteLength; offset += pieceBytes)
    yield bytes.subarray(offset, offset + pieceBytes);
}

/** Yields `bytes`, and then nothing more: the sender keeps its connection and is silent. `onSilence` is called when the silence begins. */
export async function* thenSilence(
  bytes: Uint8Array,
  onSilence: () => void = () => {},
  pieceBytes?: number,
): AsyncGenerator<Uint8Array, void> {
  yield* inPieces(bytes, pieceBytes);
  onSilence();
  await new Promise(() => {});
}

export async function readAll(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(pieces));
}

export async function readBlob(reader: BlobReader): Promise<Buffer> {
  await using source = reader;
  return await readAll(source.stream());
}

export interface CutPart {
  readonly plan: PartPlan;
  readonly bytes: Buffer;
}

/** Cuts `bytes` into parts with their plans. */
export function cutParts(bytes: Buffer, partSizeBytes: number): CutPart[] {
  const count = Math.ceil(bytes.byteLength / partSizeBytes);
  return Array.from({ length: count }, (_, index) =>
    cutPart(index + 1, bytes.subarray(index * partSizeBytes, (index + 1) * partSizeBytes)),
  );
}

/** Every second part has an MD5, and the others a SHA-256, because a store takes both. */
export function cutPart(number: number, bytes: Buffer): CutPart {
  const partDigest = makePartDigest(number % 2 === 0 ? "md5" : "sha256", bytes);
  return { plan: { number, digest: partDigest, lengthBytes: bytes.byteLength }, bytes };
}

export interface CutPiece {
  readonly plan: PiecePlan;
  readonly bytes: Buffer;
}

/** A piece has at least this length, but for the last one of its part. */
export const pieceBytes = 64 * 1024;

/** Cuts a part's bytes into pieces of the smallest length. */
export function cutPieces(partNumber: number, bytes: Buffer): CutPiece[] {
  const count = Math.ceil(bytes.byteLength / pieceBytes);
  return Array.from({ length: count }, (_, index) =>
    cutPiece(partNumber, index * pieceBytes, bytes.subarray(index * pieceBytes, (index + 1) * pieceBytes)),
  );
}

export function cutPiece(partNumber: number, offset: number, bytes: Buffer): CutPiece {
  const partDigest = makePartDigest("sha256", bytes);
  return { plan: { partNumber, offset, lengthBytes: bytes.byteLength, digest: partDigest }, bytes };
}

function makePartDigest(algorithm: DigestAlgorithm, bytes: Uint8Array): string {
  return makeDigest(algorithm, digest(algorithm, bytes, "base64"));
}

export function digest(algorithm: "md5" | "sha256", bytes: Uint8Array, encoding: "hex" | "base64"): string {
  return createHash(algorithm).update(bytes).digest(encoding);
}

/** Makes a key as the server does; no two are the same. */
export function newKey(org = "org_suite"): string {
  return `${org}/upl_${randomBytes(10).toString("hex")}`;
}
