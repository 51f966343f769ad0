import { createHash } from "node:crypto";

const KEY = /^[a-z0-9_-]{1,64}(\/[a-z0-9_-]{1,64}){0,2}(\.mcap)?$/;

/** The server makes all keys, so a key of another shape is a bug and throws a TypeError. */
export function checkKey(key: string): void {
  if (!KEY.test(key)) throw new TypeError(`not an object key: ${JSON.stringify(key)}`);
}

/** Says whether a key is of an object in a customer's bucket: it names the row of `BucketObject`, and our own store has nothing under it. */
export function isOfCustomer(key: string): boolean {
  return /^[^/]+\/obj_/.test(key);
}

/** Says whether an object is a file for viewers, which was copied from recordings and can be made again. */
export function isViewKey(key: string): boolean {
  return /^[^/]+\/view_/.test(key);
}

/** Says whether an object is a file of a training set, which can be made again. */
export function isTrainingKey(key: string): boolean {
  return /^[^/]+\/tf_/.test(key);
}

/** Says whether an object has the thumbnails of a recording, which can be made again. */
export function isThumbnailKey(key: string): boolean {
  return /^[^/]+\/thumb_/.test(key);
}

/** Selects rows whose object our own store has; in SQL it is `IS_OURS`. */
export const ofOurStore = { blobKey: { not: null }, NOT: { blobKey: { contains: "/obj_" } } } as const;

/** A key stands for the same content for ever. */
export function etagOf(key: string): string {
  return createHash("sha256").update(key).digest("base64url").slice(0, 22);
}
