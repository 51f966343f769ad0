// The first UploadId that is recorded under a key is the upload; whoever comes second aborts its own. Only verified bytes
// are sent to the bucket, and only those of the digest that was recorded for their number before: so a part counts once
// the bucket lists it. An UploadId that the bucket forgot (a lifecycle rule) is forgotten here too, and the upload begins anew.

import { PutObjectCommand } from "@aws-sdk/client-s3";
import {
  BlobExistsError,
  PartConflictError,
  PartsMissingError,
  UploadClosedError,
  UploadMismatchError,
} from "../blob-errors.ts";
import type { PartPlan, PartReceipt, UploadPlan } from "../blob-store.ts";
import { checkPart, checkParts, checkPlan } from "../part-plan.ts";
import { type Bucket, findObject, placeOf } from "./bucket.ts";
import { abortMultipart, abortMultiparts, beginMultipart, joinParts, listStoredParts } from "./multipart.ts";
import { removePieceObjects } from "./piece-objects.ts";
import { isGone, isS3Error } from "./s3-errors.ts";
import type { OpenUpload, UploadRecords } from "./upload-records.ts";

export interface S3Uploads {
  readonly bucket: Bucket;
  readonly records: UploadRecords;
}

/** BlobStore.createUpload */
export async function createUpload({ bucket, records }: S3Uploads, key: string, plan: UploadPlan): Promise<void> {
  checkPlan(plan);
  if (await findObject(bucket, key)) throw new BlobExistsError(key);
  const known = (await records.find(key)) ?? (await beginUpload({ bucket, records }, key, plan));
  if (known.plan.sizeBytes !== plan.sizeBytes || known.plan.partSizeBytes !== plan.partSizeBytes)
    throw new UploadMismatchError(key);
}

async function beginUpload({ bucket, records }: S3Uploads, key: string, plan: UploadPlan): Promise<OpenUpload> {
  const own = { ...(await beginMultipart(bucket, key)), plan };
  const open = await records.open(own);
  if (open.uploadId !== own.uploadId) await abortMultipart(bucket, own);
  return open;
}

export async function requireUpload(records: UploadRecords, key: string): Promise<OpenUpload> {
  const upload = await records.find(key);
  if (!upload) throw new UploadClosedError(key);
  return upload;
}

/** BlobStore.listParts */
export async function listParts({ bucket, records }: S3Uploads, key: string): Promise<PartReceipt[]> {
  return durableParts({ bucket, records }, await requireUpload(records, key));
}

/** Those that are recorded and that the bucket has. */
export async function durableParts({ bucket, records }: S3Uploads, upload: OpenUpload): Promise<PartReceipt[]> {
  const taken = new Map((await records.listTaken(upload)).map((part) => [part.number, part]));
  const stored = await listStoredParts(bucket, upload);
  if (!stored) {
    await records.close(upload.key, upload.uploadId);
    throw new UploadClosedError(upload.key);
  }
  return stored.flatMap(({ number, etag, sizeBytes }) => {
    const part = taken.get(number);
    return part && part.lengthBytes === sizeBytes ? [{ ...part, etag }] : [];
  });
}

/** Throws what BlobStore.grantParts throws; a part that passes may be sent. */
export async function checkGrantable(records: UploadRecords, key: string, parts: readonly PartPlan[]): Promise<void> {
  const upload = await requireUpload(records, key);
  for (const part of parts) checkPart(upload.plan, part);
  const numbers = parts.map(({ number }) => number);
  const digests = new Map((await records.listTaken(upload, numbers)).map(({ number, digest }) => [number, digest]));
  for (const { number, digest } of parts)
    if ((digests.get(number) ?? digest) !== digest) throw new PartConflictError(number);
}

/** BlobStore.completeUpload: what is asked of the bucket again after a lost answer is whether the object is there. */
export async function completeUpload(uploads: S3Uploads, key: string, parts: readonly PartPlan[]): Promise<void> {
  const { bucket, records } = uploads;
  const upload = await records.find(key);
  try {
    if (!upload) throw new UploadClosedError(key);
    await publishParts(uploads, upload, parts);
  } catch (error) {
    if (!(error instanceof UploadClosedError)) throw error;
    await checkComplete(bucket, { key, parts, otherwise: error });
  }
  if (upload) await records.close(key, upload.uploadId);
  await removeUnfinished(bucket, key);
}

/** Removes everything of the key but the object. */
async function removeUnfinished(bucket: Bucket, key: string): Promise<void> {
  await abortMultiparts(bucket, key);
  await removePieceObjects(bucket, key);
}

async function publishParts(uploads: S3Uploads, upload: OpenUpload, parts: readonly PartPlan[]): Promise<void> {
  const { bucket } = uploads;
  const { key, plan } = upload;
  const durable = await durableParts(uploads, upload);
  checkParts(plan, parts, durable);
  if (await findObject(bucket, key)) throw await whoseObject(uploads, upload);
  try {
    if (durable.length === 0) await putEmpty(bucket, upload);
    else
      await joinParts(
        bucket,
        upload,
        durable.map(({ number, etag }) => ({ PartNumber: number, ETag: etag! })),
      );
  } catch (error) {
    const found = await findObject(bucket, key);
    if (found?.ContentLength === plan.sizeBytes) return; // the answer was lost, or another call was faster
    if (isGone(error)) throw new UploadClosedError(key);
    throw isS3Error(error, "PreconditionFailed") ? new BlobExistsError(key) : error;
  }
}

/** Another call may have completed this very upload meanwhile. */
async function whoseObject({ bucket }: S3Uploads, upload: OpenUpload): Promise<Error> {
  const isOpen = (await listStoredParts(bucket, upload)) !== undefined;
  return isOpen ? new BlobExistsError(upload.key) : new UploadClosedError(upload.key);
}

/** A multipart upload has at least one part: that of an empty object is given up. */
async function putEmpty(bucket: Bucket, upload: OpenUpload): Promise<void> {
  await bucket.client.send(
    new PutObjectCommand({ ...placeOf(bucket, upload.key), Body: new Uint8Array(0), IfNoneMatch: "*" }),
  );
  await abortMultipart(bucket, upload);
}

/** Without an open upload, an object of the length told is the earlier completion's. */
async function checkComplete(
  bucket: Bucket,
  { key, parts, otherwise }: { key: string; parts: readonly PartPlan[]; otherwise: UploadClosedError },
): Promise<void> {
  const object = await findObject(bucket, key);
  if (!object) throw otherwise;
  const statedBytes = parts.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0);
  if (statedBytes !== object.ContentLength)
    throw new PartsMissingError(
      `the parts told have ${statedBytes} bytes, the completed upload ${object.ContentLength}`,
    );
}

/** BlobStore.abortUpload: also what the bucket has under the key and nobody recorded. */
export async function abortUpload({ bucket, records }: S3Uploads, key: string): Promise<void> {
  await records.close(key);
  await removeUnfinished(bucket, key);
}
