import { ApiError } from "../../core/errors.ts";
import { StorageFullError } from "../blob-errors.ts";

/** The bucket does not answer, or refuses what this server must be allowed to do: nothing is known of the object. */
export class BucketUnavailableError extends ApiError {
  constructor(message: string, cause: unknown) {
    super("Unavailable", message, { retryAfterSeconds: 10 });
    this.name = "BucketUnavailableError";
    this.cause = cause;
  }
}

const FULL = new Set(["QuotaExceeded", "InsufficientStorage", "XMinioStorageFull"]);
/** What tells of the object or upload, not of the bucket. */
const TELLING = new Set([400, 404, 405, 409, 412, 416, 501]);
const ABOUT_THE_BUCKET = new Set(["NoSuchBucket", "RequestTimeout", "InvalidAccessKeyId", "ExpiredToken"]);

const permissions: Readonly<Record<string, string>> = {
  HeadObjectCommand: "s3:GetObject",
  GetObjectCommand: "s3:GetObject",
  PutObjectCommand: "s3:PutObject",
  CreateMultipartUploadCommand: "s3:PutObject",
  UploadPartCommand: "s3:PutObject",
  CompleteMultipartUploadCommand: "s3:PutObject",
  AbortMultipartUploadCommand: "s3:AbortMultipartUpload",
  ListPartsCommand: "s3:ListMultipartUploadParts",
  ListMultipartUploadsCommand: "s3:ListBucketMultipartUploads",
  ListObjectsV2Command: "s3:ListBucket",
  HeadBucketCommand: "s3:ListBucket",
  DeleteObjectCommand: "s3:DeleteObject",
};

interface S3Failure {
  readonly name: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** Whether the bucket answered with one of these codes. */
export function isS3Error(error: unknown, ...names: readonly string[]): error is S3Failure & Error {
  return error instanceof Error && "$metadata" in error && names.includes(error.name);
}

/** Whether the bucket answered that it has no such upload; Ceph says of an upload that was aborted that its key is not there. */
export function isGone(error: unknown): boolean {
  return isS3Error(error, "NoSuchUpload", "NoSuchKey", "NotFound");
}

/** What is thrown for a call that failed: the answer itself where it tells of an object, else why nothing is known. */
export function toStoreError(error: unknown, commandName: string): unknown {
  if (!(error instanceof Error) || error instanceof ApiError || error.name === "AbortError") return error;
  const status = "$metadata" in error ? (error as S3Failure).$metadata?.httpStatusCode : undefined;
  if (FULL.has(error.name) || status === 507) return new StorageFullError(error);
  if (status !== undefined && TELLING.has(status) && !ABOUT_THE_BUCKET.has(error.name)) return error;
  const verb = commandName.replace(/Command$/, "");
  if (status === 403) {
    const permission = permissions[commandName] ?? "all of them";
    return new BucketUnavailableError(`the bucket refuses ${verb} (403 ${error.name}): it needs ${permission}`, error);
  }
  const answer = status === undefined ? error.message : `${status} ${error.name}`;
  return new BucketUnavailableError(`the bucket did not take ${verb}: ${answer}`, error);
}
