// The first upload id that is recorded under a key is the upload; a process that comes second aborts its own. Only verified bytes are sent to
// the bucket, and only bytes of the digest that was recorded for the part's number before, so that a part counts once the bucket lists it.
// If the bucket forgets an upload, for example by a lifecycle rule, its record is removed here too, and the upload starts over.

import {
  BlobExistsError,
  PartConflictError,
  PartsMissingError,
  UploadClosedError,
  UploadMismatchError,
} from "../blob-errors.ts";
import type { PartPlan, PartReceipt, UploadPlan } from "../blob-store.ts";
import { checkPart, checkParts, checkPlan } from "../part-plan.ts";
import type { BucketClient, StoredPart } from "./bucket-client.ts";
import { removePieceObjects } from "./piece-objects.ts";
import type { OpenUpload, UploadRecords } from "./upload-records.ts";

export interface BucketUploads {
  readonly bucket: Pick<BucketClient, "objects" | "parts">;
  readonly records: UploadRecords;
  /** Records the pieces that senders have sent to the bucket itself. Undefined: all come through this process. */
  readonly recordArrived?: (upload: OpenUpload, partNumber?: number) => Promise<void>;
}

/** Implements BlobStore.createUpload. */
export async function createUpload({ bucket, records }: BucketUploads, key: string, plan: UploadPlan): Promise<void> {
  checkPlan(plan);
  if (await bucket.objects.find(key)) throw new BlobExistsError(key);
  const known = (await records.find(key)) ?? (await beginUpload({ bucket, records }, key, plan));
  if (known.plan.sizeBytes !== plan.sizeBytes || known.plan.partSizeBytes !== plan.partSizeBytes)
    throw new UploadMismatchError(key);
}

async function beginUpload({ bucket, records }: BucketUploads, key: string, plan: UploadPlan): Promise<OpenUpload> {
  const own = { ...(await bucket.parts.begin(key)), plan };
  const open = await records.open(own);
  if (open.uploadId !== own.uploadId) await bucket.parts.abort(own);
  return open;
}

export async function requireUpload(records: UploadRecords, key: string): Promise<OpenUpload> {
  const upload = await records.find(key);
  if (!upload) throw new UploadClosedError(key);
  return upload;
}

/** Implements BlobStore.listParts. */
export async function listParts({ bucket, records }: BucketUploads, key: string): Promise<PartReceipt[]> {
  return durableParts({ bucket, records }, await requireUpload(records, key));
}

/** Returns the parts that are recorded and that the bucket has. */
export async function durableParts(uploads: BucketUploads, upload: OpenUpload): Promise<PartReceipt[]> {
  return (await storedParts(uploads, upload)).map(({ plan, stored }) => ({ ...plan, etag: stored.etag }));
}

async function storedParts({ bucket, records }: BucketUploads, upload: OpenUpload): Promise<DurablePart[]> {
  const taken = new Map((await records.listTaken(upload)).map((part) => [part.number, part]));
  const stored = await bucket.parts.list(upload);
  if (!stored) {
    await records.close(upload.key, upload.uploadId);
    throw new UploadClosedError(upload.key);
  }
  return stored.flatMap((part) => {
    const plan = taken.get(part.number);
    return plan && plan.lengthBytes === part.sizeBytes ? [{ plan, stored: part }] : [];
  });
}

interface DurablePart {
  readonly plan: PartPlan;
  readonly stored: StoredPart;
}

/** Throws what BlobStore.grantParts throws if one of the parts may not be sent. */
export async function checkGrantable(records: UploadRecords, key: string, parts: readonly PartPlan[]): Promise<void> {
  const upload = await requireUpload(records, key);
  for (const part of parts) checkPart(upload.plan, part);
  const numbers = parts.map(({ number }) => number);
  const digests = new Map((await records.listTaken(upload, numbers)).map(({ number, digest }) => [number, digest]));
  for (const { number, digest } of parts)
    if ((digests.get(number) ?? digest) !== digest) throw new PartConflictError(number);
}

/** Implements BlobStore.completeUpload. After an answer of the bucket was lost, the next call succeeds if the object exists. */
export async function completeUpload(uploads: BucketUploads, key: string, parts: readonly PartPlan[]): Promise<void> {
  const { records } = uploads;
  const upload = await records.find(key);
  try {
    if (!upload) throw new UploadClosedError(key);
    await publishParts(uploads, upload, parts);
  } catch (error) {
    if (!(error instanceof UploadClosedError)) throw error;
    await checkComplete(uploads, { key, parts, otherwise: error });
  }
  if (upload) await records.close(key, upload.uploadId);
  await removeUnfinished(uploads, key);
}

/** Removes everything that the bucket has under the key, except the object. */
async function removeUnfinished({ bucket }: BucketUploads, key: string): Promise<void> {
  await bucket.parts.abortAll(key);
  await removePieceObjects(bucket.objects, key);
}

async function publishParts(uploads: BucketUploads, upload: OpenUpload, parts: readonly PartPlan[]): Promise<void> {
  const { objects, parts: stored } = uploads.bucket;
  const { key, plan } = upload;
  const durable = await storedParts(uploads, upload);
  checkParts(
    plan,
    parts,
    durable.map(({ plan: part }) => part),
  );
  if (await objects.find(key))
    throw (await stored.isJoined(upload)) ? new UploadClosedError(key) : new BlobExistsError(key);
  try {
    if (durable.length === 0) await putEmpty(uploads, upload);
    else
      await stored.join(
        upload,
        durable.map(({ stored: part }) => part),
      );
  } catch (error) {
    if ((await objects.find(key))?.sizeBytes === plan.sizeBytes) return; // the answer was lost, or another call was faster
    throw error;
  }
}

/** Writes an empty object without its upload in parts, because that needs at least one part. */
async function putEmpty({ bucket }: BucketUploads, upload: OpenUpload): Promise<void> {
  await bucket.objects.put(upload.key, new Uint8Array(0), { isOnce: true });
  await bucket.parts.abort(upload);
}

/** An object of the stated length, without an open upload, shows that an earlier call completed the upload. Otherwise this throws. */
async function checkComplete(
  { bucket }: BucketUploads,
  { key, parts, otherwise }: { key: string; parts: readonly PartPlan[]; otherwise: UploadClosedError },
): Promise<void> {
  const object = await bucket.objects.find(key);
  if (!object) throw otherwise;
  const statedBytes = parts.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0);
  if (statedBytes !== object.sizeBytes)
    throw new PartsMissingError(
      `the parts as stated have ${statedBytes} bytes, the completed upload ${object.sizeBytes}`,
    );
}

/** Implements BlobStore.abortUpload. It also removes uploads in parts and pieces that no row recorded. */
export async function abortUpload(uploads: BucketUploads, key: string): Promise<void> {
  await uploads.records.close(key);
  await removeUnfinished(uploads, key);
}
