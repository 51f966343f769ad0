import { ApiError } from "../../../core/errors.ts";
import { StorageFullError } from "../blob-errors.ts";
import { BucketUnavailableError, WrongCredentialsError } from "../buckets/bucket-unavailable.ts";

const FULL = new Set(["QuotaExceeded", "InsufficientStorage", "XMinioStorageFull"]);
/** These answers concern the object or upload, not the bucket. */
const ABOUT_THE_OBJECT = new Set([400, 404, 405, 409, 412, 416, 501]);
const ABOUT_THE_BUCKET = new Set(["NoSuchBucket", "RequestTimeout"]);
const ABOUT_THE_CREDENTIALS = new Set(["InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken"]);

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

/** Says whether the bucket answered with one of these codes. */
export function isS3Error(error: unknown, ...names: readonly string[]): error is S3Failure & Error {
  return error instanceof Error && "$metadata" in error && names.includes(error.name);
}

/** Says whether the bucket answered that it has no such upload; Ceph answers for an aborted upload that its key does not exist. */
export function isGone(error: unknown): boolean {
  return isS3Error(error, "NoSuchUpload", "NoSuchKey", "NotFound");
}

/** Returns what is thrown for a failed call: the answer itself if it concerns an object, otherwise the reason why nothing is known. */
export function toStoreError(error: unknown, commandName: string): unknown {
  if (!(error instanceof Error) || error instanceof ApiError || error.name === "AbortError") return error;
  const status = "$metadata" in error ? (error as S3Failure).$metadata?.httpStatusCode : undefined;
  if (FULL.has(error.name) || status === 507) return new StorageFullError(error);
  if (error.name === "CredentialsProviderError")
    return new WrongCredentialsError(`there are no credentials for the bucket: ${error.message}`, error);
  if (ABOUT_THE_CREDENTIALS.has(error.name))
    return new WrongCredentialsError(
      `the bucket refuses the credentials (${status} ${error.name}): the access key or its secret is wrong or has expired`,
      error,
    );
  if (status !== undefined && ABOUT_THE_OBJECT.has(status) && !ABOUT_THE_BUCKET.has(error.name)) return error;
  const verb = commandName.replace(/Command$/, "");
  if (status === 403) {
    const permission = permissions[commandName] ?? "all of them";
    return new BucketUnavailableError(`the bucket refuses ${verb} (403 ${error.name}): it needs ${permission}`, error);
  }
  const answer = status === undefined ? error.message : `${status} ${error.name}`;
  return new BucketUnavailableError(`the bucket did not take ${verb}: ${answer}`, error);
}
