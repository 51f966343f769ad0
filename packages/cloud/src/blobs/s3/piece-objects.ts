import { randomBytes } from "node:crypto";
import { DeleteObjectCommand, paginateListObjectsV2 } from "@aws-sdk/client-s3";
import { checkKey } from "../object-key.ts";
import type { Bucket } from "./bucket.ts";

/** Below this stand the pieces of parts that are not whole: `_pieces/<key>/<part number>.<random>`. */
export const PIECES = "_pieces/";
const PIECE_NAME = /\/\d+\.[0-9a-f]+$/;

/** A name for the bytes of one piece; never given twice. */
export function newPieceName(partNumber: number): string {
  return `${partNumber}.${randomBytes(8).toString("hex")}`;
}

export function pieceObject(bucket: Bucket, key: string, name: string): { Bucket: string; Key: string } {
  checkKey(key);
  return { Bucket: bucket.name, Key: `${bucket.prefix}${PIECES}${key}/${name}` };
}

/** The key of the upload that a piece's object belongs to; undefined for any other object. */
export function keyOfPiece(objectKey: string): string | undefined {
  return objectKey.startsWith(PIECES) ? objectKey.slice(PIECES.length).replace(PIECE_NAME, "") : undefined;
}

export async function removePieceObject(bucket: Bucket, key: string, name: string): Promise<void> {
  await bucket.client.send(new DeleteObjectCommand(pieceObject(bucket, key, name)));
}

/** Removes all that there is of a key, also what no record names. */
export async function removePieceObjects(bucket: Bucket, key: string, partNumber?: number): Promise<void> {
  const { Bucket, Key } = pieceObject(bucket, key, partNumber === undefined ? "" : `${partNumber}.`);
  for await (const { Contents = [] } of paginateListObjectsV2({ client: bucket.client }, { Bucket, Prefix: Key }))
    for (const { Key: found } of Contents) await bucket.client.send(new DeleteObjectCommand({ Bucket, Key: found! }));
}
