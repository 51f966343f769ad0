import { ApiError } from "../core/errors.ts";

/** No object under this key. */
export class BlobNotFound extends ApiError {
  constructor(key: string) {
    super("NotFound", `no object is stored as ${key}`);
    this.name = "BlobNotFound";
  }
}

/** Keys are never used twice. */
export class BlobExists extends ApiError {
  constructor(key: string) {
    super("Conflict", `an object is already stored as ${key}`);
    this.name = "BlobExists";
  }
}

/** The store holds fewer bytes than the object has: a damage of the storage, not of the request. */
export class BlobDamaged extends ApiError {
  constructor(key: string) {
    super("Internal", `the object ${key} ends before its size`);
    this.name = "BlobDamaged";
  }
}

export class BlobTooLarge extends ApiError {
  constructor(maxBytes: number) {
    super("BodyTooLarge", `the body is over the limit of ${maxBytes} bytes`);
    this.name = "BlobTooLarge";
  }
}

/** No room (ENOSPC, EDQUOT). Nothing was acknowledged; the same call may succeed later. */
export class StorageFull extends ApiError {
  constructor(cause: unknown) {
    super("StorageFull", "the server's storage is full; nothing was acknowledged");
    this.name = "StorageFull";
    this.cause = cause;
  }
}

/** The bytes are not those that were announced. */
export class DigestMismatch extends ApiError {
  constructor(message: string) {
    super("DigestMismatch", message);
    this.name = "DigestMismatch";
  }
}

/** No upload is open under this key: never made, aborted, or completed. */
export class UploadClosed extends ApiError {
  constructor(key: string) {
    super("UploadClosed", `no upload is open as ${key}`);
    this.name = "UploadClosed";
  }
}

/** The upload is open with another size or part size. */
export class UploadMismatch extends ApiError {
  constructor(key: string) {
    super("Conflict", `the upload ${key} is open with another size or part size`);
    this.name = "UploadMismatch";
  }
}

/** The part's number or length does not fit the upload's plan. */
export class PartRefused extends ApiError {
  constructor(message: string) {
    super("InvalidRequest", message);
    this.name = "PartRefused";
  }
}

/** Other bytes were taken under this part's number; they are never replaced. */
export class PartConflict extends ApiError {
  constructor(number: number) {
    super("Conflict", `part ${number} was received with other bytes; those are never replaced`);
    this.name = "PartConflict";
  }
}

/** The piece does not fit its part, or there are too many. */
export class PieceRefused extends ApiError {
  constructor(message: string) {
    super("InvalidRequest", message);
    this.name = "PieceRefused";
  }
}

/** The piece does not begin where those before it end, or other bytes are held in its place; those are never replaced. */
export class PieceConflict extends ApiError {
  constructor(message: string) {
    super("Conflict", message);
    this.name = "PieceConflict";
  }
}

export class PartsMissing extends ApiError {
  constructor(message: string) {
    super("PartsMissing", message);
    this.name = "PartsMissing";
  }
}
