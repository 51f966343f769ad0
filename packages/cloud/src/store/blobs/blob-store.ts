import type { DigestAlgorithm } from "@downlink/protocol";
import type { NoteStore } from "./notes.ts";

/**
 * A store for bytes: recordings, attachments and others. An object is written once, under a key that is never used again, and is never
 * changed. There are two ways to write one: `put` takes one stream; an upload in parts survives interruptions, and its parts are sent
 * straight to the targets that `grantParts` signs.
 *
 * Every method throws {@link StorageFullError} if there is no room, with nothing acknowledged; the other errors are in blob-errors.ts.
 */
export interface BlobStore extends NoteStore {
  /**
   * Writes one object. It is durable once `put` returns, and nothing is left of it if `put` throws: {@link BlobExistsError} for a key in
   * use, {@link DigestMismatchError} if the body does not have `expectedBytes`, {@link BlobTooLargeError} above `maxBytes`.
   */
  put(
    key: string,
    body: AsyncIterable<Uint8Array>,
    options?: PutOptions,
  ): Promise<{ sizeBytes: number; sha256: string }>;
  /** Opens an object; the caller closes the reader. Throws {@link BlobNotFoundError}. */
  open(key: string, options?: OpenOptions): Promise<BlobReader>;
  /** Finds an object; one that is found is durable. */
  stat(key: string): Promise<StoredObject | undefined>;
  /** Removes the object, or an unfinished upload of that key. Does nothing if there is none. */
  delete(key: string): Promise<void>;

  /**
   * Opens an upload. Its parts are numbered from 1, and all but the last one have `partSizeBytes`. A repeat with the same plan is harmless;
   * throws {@link UploadMismatchError} for another plan, {@link BlobExistsError} once the upload was completed.
   */
  createUpload(key: string, plan: UploadPlan): Promise<void>;
  /**
   * Lists the durable parts by number. Throws {@link UploadClosedError} if no upload is open: it was never created, or was aborted or
   * completed (see `stat`).
   */
  listParts(key: string): Promise<PartReceipt[]>;
  /**
   * If a sender announces its parts by this kind of digest, their bytes do not pass through this process. Undefined: the kind makes no
   * difference.
   */
  readonly directDigest?: DigestAlgorithm;
  /**
   * Signs a target for each part, good for one PUT of exactly these bytes with these headers. Throws {@link UploadClosedError}, {@link
   * PartRefusedError} for a part outside of the plan, {@link PartConflictError} if other bytes are acknowledged under that number.
   */
  grantParts(key: string, parts: readonly PartPlan[]): Promise<PartGrant[]>;
  /**
   * Joins the parts into the object, which is durable once this returns. It may be repeated, also after a crash in between. Throws {@link
   * PartsMissingError} unless `parts` are all parts of the plan and each is stored as announced, {@link UploadClosedError}.
   */
  completeUpload(key: string, parts: readonly PartReceipt[]): Promise<void>;
  /** Forgets an unfinished upload and its bytes; a completed object stays. Does nothing if there is none. */
  abortUpload(key: string): Promise<void>;

  /**
   * Takes one part. It is verified before any of its bytes counts, and is durable once this returns. A repeat of the same bytes is
   * harmless, also at the same time. Throws {@link DigestMismatchError}, {@link PartConflictError}, {@link PartRefusedError}, {@link
   * UploadClosedError}. Only a store whose grants name our own part route has this method, and only that route calls it.
   */
  receivePart?(key: string, part: PartPlan, body: AsyncIterable<Uint8Array>): Promise<void>;

  /*
   * On a slow link a part may come in pieces: from the part's beginning on, without gaps, each durable by itself. So a broken link loses
   * one piece and not the whole part; the part itself counts only once it is composed.
   *
   */

  /** Lists the durable pieces of parts that are not whole, or of one part, by number and offset. Throws {@link UploadClosedError}. */
  listPieces(key: string, partNumber?: number): Promise<PiecePlan[]>;
  /**
   * Signs a target for each piece, good for one PUT of exactly these bytes with these headers. Whether the piece is the next one is checked
   * when it arrives. Throws {@link UploadClosedError}, and {@link PartRefusedError} or {@link PieceRefusedError} outside of the plan.
   */
  grantPieces(key: string, pieces: readonly PiecePlan[]): Promise<PieceGrant[]>;
  /**
   * Joins the pieces into the part, which is durable once this returns; the pieces are then gone. It may be repeated. Throws {@link
   * PartsMissingError} if the pieces are not the whole part, {@link DigestMismatchError} if together they have another digest (then they
   * are forgotten, and the part may be sent again), {@link PartConflictError}, {@link PartRefusedError}, {@link UploadClosedError}.
   */
  composePart(key: string, part: PartPlan): Promise<PartReceipt>;
  /**
   * Takes one piece. It is verified before it counts, and is durable once this returns. A repeat of the same bytes is harmless, also at the
   * same time. Throws {@link DigestMismatchError}, {@link PieceRefusedError}, {@link PartRefusedError}, {@link UploadClosedError}, and
   * {@link PieceConflictError} for a piece that does not begin where those before it end, or whose place others have taken, because the
   * first writer wins. Like `receivePart`, only a store with our own part route has this method.
   */
  receivePiece?(key: string, piece: PiecePlan, body: AsyncIterable<Uint8Array>): Promise<void>;

  /**
   * Returns what is wrong with the store, in a sentence without its address, or undefined if it takes objects. Rejects if the store does
   * not answer.
   */
  check(): Promise<string | undefined>;

  /** Lists objects and the remains of unfinished ones, in no order, for the orphan sweep. `prefix` is a text that the keys begin with. */
  list(prefix: string): AsyncIterable<ListedObject>;
}

export interface PutOptions {
  readonly signal?: AbortSignal;
  /** The largest size that is accepted. */
  readonly maxBytes?: number;
  /** The exact length, if it is known. */
  readonly expectedBytes?: number;
}

export interface OpenOptions {
  /** So many bytes at the object's end are read next: where each request takes a while, they come with the first one. */
  readonly endBytes?: number;
}

export interface StoredObject {
  readonly sizeBytes: number;
  readonly modifiedAtMs: number;
  /** An opaque, strong tag: each object has another one. It has no quotes. */
  readonly etag: string;
}

/** One stored object, open for reading; a random access source for @downlink/recordings. */
export interface BlobReader extends AsyncDisposable {
  readonly sizeBytes: number;
  /** Reads exactly these bytes. Throws a RangeError outside of the object, and {@link BlobDamagedError} if they are not there. */
  read(offset: number, length: number): Promise<Uint8Array>;
  /** The descriptor of an object that is a file, valid while this reader is open. Threads read through it themselves. */
  readonly descriptor?: number;
  /** Yields the bytes in order, in pieces of at most 256 KiB, whose memory is the consumer's; one piece is read ahead of it. */
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

/** The bytes of a part or piece, as a sender announces them. */
export interface SentBytes {
  /** An MD5 or SHA-256 (`makeDigest` of the protocol); all digests of one upload are of one kind. */
  readonly digest: string;
  readonly lengthBytes: number;
  /**
   * If the sender breaks off, the bytes that came through this process are held as a piece, of which nothing was verified. Only for senders
   * that send the part again where `composePart` finds another digest.
   */
  readonly keepsBeginning?: boolean | undefined;
}

export interface PartPlan extends SentBytes {
  /** The part's number; numbers begin with 1. */
  readonly number: number;
}

export interface PartReceipt extends PartPlan {
  /** The tag that some stores want to see again on completion. */
  readonly etag?: string;
}

export interface PartGrant {
  readonly number: number;
  readonly url: string;
  readonly headers: Record<string, string>;
}

/** A range of bytes of one part. */
export interface PiecePlan extends SentBytes {
  readonly partNumber: number;
  /** The offset within the part. */
  readonly offset: number;
}

export interface PieceGrant {
  readonly offset: number;
  readonly url: string;
  readonly headers: Record<string, string>;
}

export interface ListedObject {
  readonly key: string;
  /** False if there is no object, but only the remains of a write that was never acknowledged or is still running. */
  readonly isWhole: boolean;
  /** The size of the object, or of the bytes that an unfinished upload holds. */
  readonly sizeBytes: number;
  readonly modifiedAtMs: number;
}
