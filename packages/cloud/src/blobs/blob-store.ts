import type { DigestAlgorithm } from "@downlink/protocol";

/**
 * Where recordings, attachments and the like are kept as bytes. An object is written once under a key that is never used
 * again, and is never changed. Two ways in: `put`, one stream; and an upload of parts that survives interruption, whose
 * parts are sent straight to the targets that `grantParts` signs.
 *
 * Every method throws {@link StorageFullError} where there is no room, with nothing acknowledged; other errors are in blob-errors.ts.
 */
export interface BlobStore {
  /**
   * Writes one object: durable once it returns, nothing is left when it throws. Throws {@link BlobExistsError} for a key in use,
   * {@link DigestMismatchError} when the body does not have `expectedBytes`, {@link BlobTooLargeError} above `maxBytes`.
   */
  put(
    key: string,
    body: AsyncIterable<Uint8Array>,
    options?: PutOptions,
  ): Promise<{ sizeBytes: number; sha256: string }>;
  /** Throws {@link BlobNotFoundError}. The caller closes the reader. */
  open(key: string): Promise<BlobReader>;
  /** What is found is durable. */
  stat(key: string): Promise<StoredObject | undefined>;
  /** Removes the object, and an unfinished upload of that key. Harmless where there is none. */
  delete(key: string): Promise<void>;

  /**
   * Opens an upload; the parts are numbered from 1 and all but the last have `partSizeBytes`. Harmless for the same plan,
   * {@link UploadMismatchError} for another, {@link BlobExistsError} once it was completed.
   */
  createUpload(key: string, plan: UploadPlan): Promise<void>;
  /** The durable parts by number. Throws {@link UploadClosedError} when none is open: never made, aborted, or completed (see `stat`). */
  listParts(key: string): Promise<PartReceipt[]>;
  /** Parts that are told by this kind of digest spare this process their bytes; undefined: it makes no difference. */
  readonly directDigest?: DigestAlgorithm;
  /**
   * A signed target for each part, good for one PUT of exactly these bytes with these headers. Throws {@link UploadClosedError},
   * {@link PartRefusedError} outside of the plan, {@link PartConflictError} where other bytes are acknowledged under that number.
   */
  grantParts(key: string, parts: readonly PartPlan[]): Promise<PartGrant[]>;
  /**
   * Makes the parts the object; durable once it returns. Repeatable, also after a crash in between. Throws
   * {@link PartsMissingError} unless `parts` are all of the plan and each is stored as told, {@link UploadClosedError}.
   */
  completeUpload(key: string, parts: readonly PartReceipt[]): Promise<void>;
  /** Forgets an unfinished upload and its bytes; a completed object stays. Harmless where there is none. */
  abortUpload(key: string): Promise<void>;

  /**
   * Takes one part: verified before a byte of it stands where it counts, durable once it returns. A repeat of the same bytes
   * is harmless, also at the same time. Throws {@link DigestMismatchError}, {@link PartConflictError}, {@link PartRefusedError},
   * {@link UploadClosedError}. Only a store whose grants name our own part route has it, and only that route calls it.
   */
  receivePart?(key: string, part: PartPlan, body: AsyncIterable<Uint8Array>): Promise<void>;

  /*
   * On a slow link a part may come in pieces, each durable by itself, from the part's beginning on and without gaps. What does
   * not count until the part is composed is the part; what is lost with the link is one piece.
   */

  /**
   * The durable pieces of parts that are not whole, or of one part, in the order of their numbers and offsets. Throws
   * {@link UploadClosedError}.
   */
  listPieces(key: string, partNumber?: number): Promise<PiecePlan[]>;
  /**
   * A signed target for each piece, good for one PUT of exactly these bytes with these headers. Whether the piece comes next is seen
   * when it arrives. Throws {@link UploadClosedError}, {@link PartRefusedError} and {@link PieceRefusedError} outside of the plan.
   */
  grantPieces(key: string, pieces: readonly PiecePlan[]): Promise<PieceGrant[]>;
  /**
   * Makes the pieces the part, after which they are gone; durable once it returns, and repeatable. Throws {@link PartsMissingError} where
   * they are not all of it, {@link DigestMismatchError} where together they have another digest (then they are forgotten, and the part
   * may be sent anew), {@link PartConflictError}, {@link PartRefusedError}, {@link UploadClosedError}.
   */
  composePart(key: string, part: PartPlan): Promise<PartReceipt>;
  /**
   * Takes one piece: verified before it counts, durable once it returns. A repeat of the same bytes is harmless, also at the same
   * time. Throws {@link DigestMismatchError}, {@link PieceRefusedError}, {@link PartRefusedError}, {@link UploadClosedError}, and {@link PieceConflictError}
   * for one that does not begin where those before it end, or in whose place others are: the first writer wins. Of whom it
   * is, see `receivePart`.
   */
  receivePiece?(key: string, piece: PiecePlan, body: AsyncIterable<Uint8Array>): Promise<void>;

  /** What is wrong with the store, in a sentence without its address; undefined: it takes objects. Rejects where it does not answer. */
  check(): Promise<string | undefined>;

  /** Objects and what is left of unfinished ones, in no order, for the orphan sweep. `prefix` is a text that keys begin with. */
  list(prefix: string): AsyncIterable<ListedObject>;
}

export interface PutOptions {
  readonly signal?: AbortSignal;
  /** The most that is taken. */
  readonly maxBytes?: number;
  /** The exact length, where it is known. */
  readonly expectedBytes?: number;
}

export interface StoredObject {
  readonly sizeBytes: number;
  readonly modifiedAtMs: number;
  /** Opaque and strong: one for each object, without quotes. */
  readonly etag: string;
}

/** One stored object, open for reading; a random access source for @downlink/recordings. */
export interface BlobReader extends AsyncDisposable {
  readonly sizeBytes: number;
  /** Exactly these bytes; throws a RangeError outside of the object and {@link BlobDamagedError} when they are not there. */
  read(offset: number, length: number): Promise<Uint8Array>;
  /** The descriptor of an object that is a file, as long as this is open. Threads read through it themselves. */
  readonly descriptor?: number;
  /** The bytes in order, in pieces of at most 256 KiB; one piece is read ahead of the consumer. */
  stream(range?: ByteRange, signal?: AbortSignal): AsyncIterable<Uint8Array>;
}

export interface ByteRange {
  readonly start: number;
  readonly endInclusive: number;
}

export interface UploadPlan {
  readonly sizeBytes: number;
  readonly partSizeBytes: number;
}

export interface PartPlan {
  /** Numbers begin with 1. */
  readonly number: number;
  /** MD5 or SHA-256 (`makeDigest` of the protocol); all of one upload are of one kind. */
  readonly digest: string;
  readonly lengthBytes: number;
}

export interface PartReceipt extends PartPlan {
  /** What the store wants to see again on completion, where it has such a thing. */
  readonly etag?: string;
}

export interface PartGrant {
  readonly number: number;
  readonly url: string;
  readonly headers: Record<string, string>;
}

/** A range of one part. */
export interface PiecePlan {
  readonly partNumber: number;
  /** The offset within the part. */
  readonly offset: number;
  readonly lengthBytes: number;
  /** MD5 or SHA-256 (`makeDigest` of the protocol); all of one upload are of one kind. */
  readonly digest: string;
}

export interface PieceGrant {
  readonly offset: number;
  readonly url: string;
  readonly headers: Record<string, string>;
}

export interface ListedObject {
  readonly key: string;
  /** False: there is no object, only what is left of a write that was never acknowledged, or is under way. */
  readonly isWhole: boolean;
  /** The size of the object, or of what an unfinished upload holds. */
  readonly sizeBytes: number;
  readonly modifiedAtMs: number;
}
