import { ApiError } from "../../core/errors.ts";

/** There is no object under this key. */
export class BlobNotFoundError extends ApiError {
  constructor(key: string) {
    super("NotFound", `no object is stored as ${key}`);
    this.name = "BlobNotFoundError";
  }
}

/** The key is in use; no key is ever used twice. */
export class BlobExistsError extends ApiError {
  constructor(key: string) {
    super("Conflict", `an object is already stored as ${key}`);
    this.name = "BlobExistsError";
  }
}

/** The store holds fewer bytes than the object has, so the storage is damaged; the request is not at fault. */
export class BlobDamagedError extends ApiError {
  constructor(key: string) {
    super("Internal", `the object ${key} ends before its size`);
    this.name = "BlobDamagedError";
  }
}

/** The bucket has other bytes under the object's name by now, because other programs write there, too. */
export class BlobReplacedError extends ApiError {
  constructor(key: string) {
    super("Conflict", `the object ${key} was replaced in its bucket`);
    this.name = "BlobReplacedError";
  }
}

export class BlobTooLargeError extends ApiError {
  constructor(maxBytes: number) {
    super("BodyTooLarge", `the body is over the limit of ${maxBytes} bytes`);
    this.name = "BlobTooLargeError";
  }
}

/** The store has no room (ENOSPC, EDQUOT). Nothing was acknowledged, and the same call may succeed later. */
export class StorageFullError extends ApiError {
  constructor(cause: unknown) {
    super("StorageFull", "the server's storage is full; nothing was acknowledged");
    this.name = "StorageFullError";
    this.cause = cause;
  }
}

/** The bytes are not the announced ones. */
export class DigestMismatchError extends ApiError {
  constructor(message: string) {
    super("DigestMismatch", message);
    this.name = "DigestMismatchError";
  }
}

/** No upload is open under this key: it was never created, or was aborted or completed. */
export class UploadClosedError extends ApiError {
  constructor(key: string) {
    super("UploadClosed", `no upload is open as ${key}`);
    this.name = "UploadClosedError";
  }
}

/** The upload is open with another size or another part size. */
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

/** Other bytes were taken under this part's number, and those are never replaced. */
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

/** The piece does not begin where the pieces before it end, or other bytes are held in its place, which are never replaced. */
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
