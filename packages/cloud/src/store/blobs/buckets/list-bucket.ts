// A bucket lists objects and unfinished uploads in the order of their keys, so the two listings are merged while they are read. An upload's id or
// a piece's number behind the key can move a name a little away from the place of its key. Therefore some unfinished keys are kept in memory
// and sorted; for a key that still comes too late, the bucket is asked whether its object exists.

import type { ListedObject } from "../blob-store.ts";
import type { BucketClient } from "./bucket-client.ts";
import { NOTES } from "./bucket-notes.ts";
import { BucketUnavailableError } from "./bucket-unavailable.ts";
import { PARTS } from "./part-objects.ts";
import { keyOfPiece, PIECES } from "./piece-objects.ts";

type Listed = Pick<BucketClient, "objects" | "parts">;

/** If no more uploads are unfinished, all are listed before the first object, so that an upload that completes meanwhile is not missed. */
const MOST_HELD = 5000;

/** Names that begin so are not objects of a key. A key cannot begin with a word that the server gives to no organization. */
const RESERVED = [NOTES, PIECES, PARTS];

/** Implements BlobStore.list. A key that has both an object and something unfinished is listed once, as the object. */
export async function* listBucket(bucket: Listed, prefix: string): AsyncGenerator<ListedObject, void> {
  const unfinished = sortListed(listUnfinished(bucket, prefix), MOST_HELD)[Symbol.asyncIterator]();
  let next = (await unfinished.next()).value;
  let passedKey = "";
  for await (const object of listWhole(bucket, prefix)) {
    for (; next && next.key < object.key; next = (await unfinished.next()).value)
      if (await hasNoObject(bucket, next.key, passedKey)) yield next;
    const isBoth = next?.key === object.key;
    yield isBoth ? { ...object, modifiedAtMs: Math.max(object.modifiedAtMs, next!.modifiedAtMs) } : object;
    if (isBoth) next = (await unfinished.next()).value;
    passedKey = object.key;
  }
  for (; next; next = (await unfinished.next()).value) if (await hasNoObject(bucket, next.key, passedKey)) yield next;
}

/** Returns whether the key has no object. All objects up to `passedKey` were listed already, so the bucket is asked about those. */
async function hasNoObject(bucket: Listed, key: string, passedKey: string): Promise<boolean> {
  return key > passedKey || (await bucket.objects.find(key)) === undefined;
}

async function* listWhole(bucket: Listed, prefix: string): AsyncGenerator<ListedObject, void> {
  let lastKey = "";
  for await (const object of bucket.objects.list(prefix)) {
    if (object.key < lastKey) throw new BucketUnavailableError("the bucket does not list its keys in order", undefined);
    lastKey = object.key;
    if (!RESERVED.some((reserved) => object.key.startsWith(reserved))) yield { ...object, isWhole: true };
  }
}

/** Yields each unfinished key once and in order, if no more than `mostHeld` keys are out of order. */
async function* sortListed(
  listed: AsyncIterable<ListedObject>,
  mostHeld: number,
): AsyncGenerator<ListedObject, undefined> {
  const held: ListedObject[] = [];
  for await (const object of listed) {
    let place = held.length;
    while (place > 0 && held[place - 1]!.key > object.key) place -= 1;
    const same = held[place - 1];
    if (same?.key === object.key) held[place - 1] = mergeObjects(same, object);
    else held.splice(place, 0, object);
    if (held.length > mostHeld) yield held.shift()!;
  }
  yield* held;
}

function mergeObjects(one: ListedObject, other: ListedObject): ListedObject {
  const modifiedAtMs = Math.max(one.modifiedAtMs, other.modifiedAtMs);
  return { ...one, sizeBytes: one.sizeBytes + other.sizeBytes, modifiedAtMs };
}

/** Yields pieces and unfinished uploads, including abandoned ones, in the order of their keys. */
async function* listUnfinished(bucket: Listed, prefix: string): AsyncGenerator<ListedObject, void> {
  const uploads = bucket.parts.listUnfinished(prefix)[Symbol.asyncIterator]();
  const pieces = listPieces(bucket, prefix);
  let upload = (await uploads.next()).value;
  let piece = (await pieces.next()).value;
  while (upload || piece) {
    if (upload && (!piece || upload.key <= piece.key)) {
      yield upload;
      upload = (await uploads.next()).value;
    } else {
      yield piece!;
      piece = (await pieces.next()).value;
    }
  }
}

async function* listPieces(bucket: Listed, prefix: string): AsyncGenerator<ListedObject, undefined> {
  for await (const object of bucket.objects.list(PIECES + prefix))
    yield { ...object, key: keyOfPiece(object.key)!, isWhole: false };
}
