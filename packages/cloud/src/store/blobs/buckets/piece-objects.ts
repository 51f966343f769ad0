import { randomBytes } from "node:crypto";
import { checkKey } from "../object-key.ts";
import type { BucketObjects } from "./bucket-client.ts";

/** Pieces of parts that are not complete are objects below this prefix: `_pieces/<key>/<part number>.<random or range and MD5>`. */
export const PIECES = "_pieces/";
const PIECE_NAME = /\/\d+\.[0-9a-f-]+$/;

/** Returns a new name for the bytes of one piece. No name is used twice. */
export function newPieceName(partNumber: number): string {
  return `${partNumber}.${randomBytes(8).toString("hex")}`;
}

/** Returns the name of a piece's object. */
export function pieceObject(key: string, name: string): string {
  checkKey(key);
  return `${PIECES}${key}/${name}`;
}

/** Returns the key of the upload to which the object of a piece belongs; undefined for any other object. */
export function keyOfPiece(objectKey: string): string | undefined {
  return objectKey.startsWith(PIECES) ? objectKey.slice(PIECES.length).replace(PIECE_NAME, "") : undefined;
}

/** Removes all pieces of an upload, or of one of its parts, including those that no record names. */
export async function removePieceObjects(objects: BucketObjects, key: string, partNumber?: number): Promise<void> {
  for await (const { key: found } of objects.list(pieceObject(key, partNumber === undefined ? "" : `${partNumber}.`)))
    await objects.remove(found);
}
