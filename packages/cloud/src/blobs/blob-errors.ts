import { ApiError } from "../core/errors.ts";

/** No object under this key. */
export class BlobNotFoundError extends ApiError {
  constructor(key: string) {
    super("NotFound", `no object is stored as ${key}`);
    this.name = "BlobNotFoundError";
  }
}

/** Keys are never used twice. */
export class BlobExistsError extends ApiError {
  constructor(key: string) {
    super("Conflict", `an object is already stored as ${key}`);
    this.name = "BlobExistsError";
  }
}

/** The store holds fewer bytes than the object has: a damage of the storage, not of the request. */
export class BlobDamagedError extends ApiError {
  constructor(key: string) {
    super("Internal", `the object ${key} ends before its size`);
    this.name = "BlobDamagedError";
  }
}

export class BlobTooLargeError extends ApiError {
  constructor(maxBytes: number) {
    super("BodyTooLarge", `the body is over the limit of ${maxBytes} bytes`);
    this.name = "BlobTooLargeError";
  }
}

/** No room (ENOSPC, EDQUOT). Nothing was acknowledged; the same call may succeed later. */
export class StorageFullError extends ApiError {
  constructor(cause: unknown) {
    super("StorageFull", "the server's storage is full; nothing was acknowledged");
    this.name = "StorageFullError";
    this.cause = cause;
  }
}

/** The bytes are not those that were announced. */
export class DigestMismatchError extends ApiError {
  constructor(message: string) {
    super("DigestMismatch", message);
    this.name = "DigestMismatchError";
  }
}

/** No upload is open under this key: never made, aborted, or completed. */
export class UploadClosedError extends ApiError {
  constructor(key: string) {
    super("UploadClosed", `no upload is open as ${key}`);
    this.name = "UploadClosedError";
  }
}

/** The upload is open with another size or part size. */
export class UploadMismatchError extends ApiError {
  constructor(key: string) {
    super("Conflict", `the upload ${key} is open with another size or part size`);
    this.name = "UploadMismatchError";
  }
}

/** The part's number or length does not fit the upload's plan. */
export class PartRefusedError extends ApiError {
  constructor(message: string) {
    super("InvalidRequest", message);
    this.name = "PartRefusedError";
  }
}

/** Other bytes were taken under this part's number; they are never replaced. */
export class PartConflictError extends ApiError {
  constructor(number: number) {
    super("Conflict", `part ${number} was received with other bytes; those are never replaced`);
    this.name = "PartConflictError";
  }
}

/** The piece does not fit its part, or there are too many. */
export class PieceRefusedError extends ApiError {
  constructor(message: string) {
    super("InvalidRequest", message);
    this.name = "PieceRefusedError";
  }
}

/** The piece does not begin where those before it end, or other bytes are held in its place; those are never replaced. */
export class PieceConflictError extends ApiError {
  constructor(message: string) {
    super("Conflict", message);
    this.name = "PieceConflictError";
  }
}

export class PartsMissingError extends ApiError {
  constructor(message: string) {
    super("PartsMissing", message);
    this.name = "PartsMissingError";
  }
}
