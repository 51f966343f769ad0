import { paginateListObjectsV2 } from "@aws-sdk/client-s3";
import type { ListedObject } from "../blob-store.ts";
import type { Bucket } from "./bucket.ts";
import { listMultiparts, listStoredParts } from "./multipart.ts";
import { keyOfPiece, PIECES } from "./piece-objects.ts";

/** BlobStore.list: what is unfinished first, because a key that has an object too is told once. */
export async function* listBucket(bucket: Bucket, prefix: string): AsyncGenerator<ListedObject, void> {
  const unfinished = await findUnfinished(bucket, prefix);
  for await (const { key, sizeBytes, modifiedAtMs } of listObjects(bucket, prefix)) {
    if (keyOfPiece(key) !== undefined) continue;
    const youngestMs = Math.max(modifiedAtMs, unfinished.get(key)?.modifiedAtMs ?? 0);
    unfinished.delete(key);
    yield { key, isWhole: true, sizeBytes, modifiedAtMs: youngestMs };
  }
  yield* unfinished.values();
}

/** Uploads that are open, or were given up, with what they hold. */
async function findUnfinished(bucket: Bucket, prefix: string): Promise<Map<string, ListedObject>> {
  const found = new Map<string, ListedObject>();
  const add = (key: string, sizeBytes: number, atMs: number) => {
    const known = found.get(key);
    const modifiedAtMs = Math.max(atMs, known?.modifiedAtMs ?? 0);
    found.set(key, { key, isWhole: false, sizeBytes: sizeBytes + (known?.sizeBytes ?? 0), modifiedAtMs });
  };
  for await (const upload of listMultiparts(bucket, prefix)) {
    const parts = (await listStoredParts(bucket, upload)) ?? [];
    const sizeBytes = parts.reduce((sum, part) => sum + part.sizeBytes, 0);
    add(upload.key, sizeBytes, Math.max(upload.startedAtMs, ...parts.map(({ storedAtMs }) => storedAtMs)));
  }
  for await (const { key, sizeBytes, modifiedAtMs } of listObjects(bucket, PIECES + prefix))
    add(keyOfPiece(key)!, sizeBytes, modifiedAtMs);
  return found;
}

async function* listObjects(bucket: Bucket, prefix: string) {
  const all = { Bucket: bucket.name, Prefix: bucket.prefix + prefix };
  for await (const { Contents = [] } of paginateListObjectsV2({ client: bucket.client }, all))
    for (const { Key, Size, LastModified } of Contents)
      yield { key: Key!.slice(bucket.prefix.length), sizeBytes: Size!, modifiedAtMs: LastModified!.getTime() };
}
