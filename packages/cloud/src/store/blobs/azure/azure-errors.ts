import { RestError } from "@azure/storage-blob";
import { ApiError } from "../../../core/errors.ts";
import { StorageFullError } from "../blob-errors.ts";
import { BucketUnavailableError, WrongCredentialsError } from "../buckets/bucket-unavailable.ts";

/** The calls that the store makes, as Microsoft's documentation names them, and the permissions of a shared access signature for them. */
const permissions = {
  PutBlob: "write (w)",
  PutBlock: "write (w)",
  PutBlockFromURL: "write (w), and read (r) for its source",
  PutBlockList: "write (w)",
  GetBlockList: "read (r)",
  GetBlob: "read (r)",
  GetBlobProperties: "read (r)",
  DeleteBlob: "delete (d)",
  ListBlobs: "list (l)",
} as const;

export type AzureVerb = keyof typeof permissions;

/** These answers concern the blob, not the container. */
const ABOUT_THE_BLOB = new Set([400, 404, 409, 412, 416]);
const ABOUT_THE_CONTAINER = new Set([
  "AccountBeingCreated",
  "AuthenticationFailed",
  "ContainerBeingDeleted",
  "ContainerDisabled",
  "ContainerNotFound",
  "InvalidAuthenticationInfo",
  "ResourceNotFound",
]);

/** Says whether the container answered with one of these codes. */
export function isAzureError(error: unknown, ...codes: readonly string[]): error is RestError {
  return error instanceof RestError && error.statusCode !== undefined && codes.includes(codeOf(error));
}

/** The answer to HEAD has no body, so that its code is in a header. */
function codeOf({ code, details }: RestError): string {
  return (details as { errorCode?: string } | undefined)?.errorCode ?? code ?? "";
}

/** Returns what is thrown for an answer that is not expected of a container, such as of a blob in the archive: nothing is known then. */
export function toUnavailable(error: unknown, verb: AzureVerb): unknown {
  if (!(error instanceof RestError)) return error;
  return new BucketUnavailableError(`the container did not take ${verb}: ${error.statusCode} ${codeOf(error)}`, error);
}

/** Returns what is thrown for a failed call: the answer itself if it concerns a blob, otherwise the reason why nothing is known. */
export function toStoreError(error: unknown, verb: AzureVerb): unknown {
  if (!(error instanceof RestError) || error instanceof ApiError) return error;
  const { statusCode: status } = error;
  if (status === undefined)
    return new BucketUnavailableError(`the container did not take ${verb}: ${error.message}`, error);
  const code = codeOf(error);
  if (status === 507 || code === "InsufficientStorage") return new StorageFullError(error);
  if (ABOUT_THE_BLOB.has(status) && !ABOUT_THE_CONTAINER.has(code)) return error;
  if (code === "ContainerNotFound")
    return new BucketUnavailableError("the container of the object store is not there", error);
  if (code === "AuthenticationFailed" || code === "InvalidAuthenticationInfo")
    return new WrongCredentialsError(
      `the container refuses the credentials (${status} ${code}): the key or the signature is wrong or has expired`,
      error,
    );
  if (status === 403 || status === 401)
    return new BucketUnavailableError(
      `the container refuses ${verb} (${status} ${code}): it needs the permission to ${permissions[verb]}`,
      error,
    );
  return new BucketUnavailableError(`the container did not take ${verb}: ${status} ${code}`, error);
}
