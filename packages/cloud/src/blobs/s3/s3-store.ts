import { DeleteObjectCommand } from "@aws-sdk/client-s3";
import { algorithmOf } from "@downlink/protocol";
import type { BlobStore, PartPlan, StoredObject } from "../blob-store.ts";
import { etagOf } from "../object-key.ts";
import { grantPart, grantPiece } from "../part-link.ts";
import { createPartMemory } from "../part-memory.ts";
import type { LinkSigner } from "../signed-link.ts";
import { type Bucket, type BucketOptions, connectBucket, findObject, placeOf, requireBucket } from "./bucket.ts";
import { grantDirectPart } from "./direct-parts.ts";
import { BucketUnavailableError } from "./s3-errors.ts";
import { listBucket } from "./s3-list.ts";
import { receivePart } from "./s3-parts.ts";
import { checkPiecesGrantable, composePart, listPieces, receivePiece } from "./s3-pieces.ts";
import { putObject } from "./s3-put.ts";
import { openObject } from "./s3-reader.ts";
import { abortUpload, checkGrantable, completeUpload, createUpload, listParts } from "./s3-upload.ts";
import type { UploadRecords } from "./upload-records.ts";

const NS_PER_MS = 1_000_000n;
const HOUR_MS = 60 * 60 * 1000;
const PART_MEMORY_BYTES = 256 * 1024 * 1024;

export interface S3StoreOptions extends BucketOptions {
  readonly records: UploadRecords;
  readonly signer: LinkSigner;
  /** What part links are built from, without a slash at the end. */
  readonly publicUrl: () => string;
  readonly clock: { nowNs(): bigint };
  /** Whoever sends parts may send them to the bucket itself: its endpoint can be reached from there. */
  readonly isDirect?: boolean;
}

/** A store whose parts may come through our own part route. */
export type S3Store = BlobStore & Required<Pick<BlobStore, "receivePart" | "receivePiece">> & Disposable;

/** Objects in a bucket of any S3. Several processes may share it, together with the records of open uploads. */
export function openS3Store(options: S3StoreOptions): S3Store {
  const bucket = connectBucket(options);
  const uploads = { bucket, records: options.records, memory: createPartMemory(PART_MEMORY_BYTES) };
  const links = () => ({
    signer: options.signer,
    publicUrl: options.publicUrl(),
    expiresAtMs: Number(options.clock.nowNs() / NS_PER_MS) + HOUR_MS,
  });
  return {
    put: (key, body, putOptions = {}) => putObject(bucket, { key, body, options: putOptions }),
    open: (key) => openObject(bucket, key),
    stat: (key) => statObject(bucket, key),
    async delete(key) {
      await bucket.client.send(new DeleteObjectCommand(placeOf(bucket, key)));
      await abortUpload(uploads, key);
    },
    ...(options.isDirect && { directDigest: "md5" as const }),
    createUpload: (key, plan) => createUpload(uploads, key, plan),
    listParts: (key) => listParts(uploads, key),
    async grantParts(key, parts) {
      await checkGrantable(options.records, key, parts);
      const isDirect = ({ digest }: PartPlan) => options.isDirect && algorithmOf(digest) === "md5";
      const grant = async (part: PartPlan) =>
        isDirect(part) ? grantDirectPart(uploads, key, part) : grantPart(links(), key, part);
      return await Promise.all(parts.map(grant));
    },
    completeUpload: (key, parts) => completeUpload(uploads, key, parts),
    abortUpload: (key) => abortUpload(uploads, key),
    receivePart: (key, part, body) => receivePart(uploads, key, { part, body }),
    listPieces: (key, partNumber) => listPieces(uploads, key, partNumber),
    async grantPieces(key, pieces) {
      await checkPiecesGrantable(options.records, key, pieces);
      return pieces.map((piece) => grantPiece(links(), key, piece));
    },
    composePart: (key, part) => composePart(uploads, key, part),
    receivePiece: (key, piece, body) => receivePiece(uploads, key, { piece, body }),
    check: () => checkBucket(bucket),
    list: (prefix) => listBucket(bucket, prefix),
    [Symbol.dispose]: () => bucket[Symbol.dispose](),
  };
}

async function statObject(bucket: Bucket, key: string): Promise<StoredObject | undefined> {
  const found = await findObject(bucket, key);
  return found && { sizeBytes: found.ContentLength!, modifiedAtMs: found.LastModified!.getTime(), etag: etagOf(key) };
}

async function checkBucket(bucket: Bucket): Promise<string | undefined> {
  try {
    await requireBucket(bucket);
    return undefined;
  } catch (error) {
    if (error instanceof BucketUnavailableError) return error.message;
    throw error;
  }
}
