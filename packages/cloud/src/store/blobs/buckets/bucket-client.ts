// The calls that a store needs from a bucket of any provider. A name is what an object has in the bucket without the prefix of the
// deployment. All calls reject with `BucketUnavailableError` if the bucket does not answer or refuses, and with StorageFullError.

import type { BlobReader, ListedObject, OpenOptions, PutOptions } from "../blob-store.ts";

/** A bucket, and how the objects of one store are read and written in it. */
export interface BucketClient {
  readonly objects: BucketObjects;
  readonly parts: BucketParts;
  /** Implements BlobStore.put, and BlobStore.open. */
  putStream(key: string, body: AsyncIterable<Uint8Array>, options: PutOptions): Promise<PutResult>;
  open(key: string, options?: OpenOptions): Promise<BlobReader>;
  /** Rejects if the bucket is not there. */
  require(): Promise<void>;
}

export interface PutResult {
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** Objects that are written and read whole. */
export interface BucketObjects {
  /** Returns undefined if the bucket answers that there is no such object. */
  find(name: string): Promise<FoundObject | undefined>;
  /** Throws `BlobExistsError` if the name is in use and must not be. */
  put(name: string, bytes: Uint8Array, options?: PutObjectOptions): Promise<void>;
  /** Returns undefined if the bucket answers that there is no such object. */
  get(name: string): Promise<Buffer | undefined>;
  /** Does nothing if there is none. */
  remove(name: string): Promise<void>;
  /** Lists the objects whose names begin so, in the order of their names. */
  list(prefix: string): AsyncIterable<NamedObject>;
}

export interface FoundObject {
  readonly sizeBytes: number;
  readonly modifiedAtMs: number;
}

export interface NamedObject extends FoundObject {
  readonly key: string;
}

export interface PutObjectOptions {
  /** Nothing is replaced. */
  readonly isOnce?: boolean;
  readonly contentType?: string;
}

/** An upload in parts, as the bucket knows it. */
export interface Multipart {
  readonly key: string;
  readonly uploadId: string;
}

export interface StoredPart {
  readonly number: number;
  readonly etag: string;
  readonly sizeBytes: number;
  readonly storedAtMs: number;
}

export interface PartBytes {
  readonly number: number;
  readonly bytes: Uint8Array;
  /** The base 64 of the bytes' MD5, if it is known: the bucket compares it. */
  readonly md5?: string;
}

/** Uploads in parts. Parts that were stored are kept until the upload is joined or aborted. */
export interface BucketParts {
  begin(key: string): Promise<Multipart>;
  /** Lists the parts in the order of their numbers; undefined if the bucket has no such upload. */
  list(upload: Multipart): Promise<StoredPart[] | undefined>;
  /** Says whether the bucket has the part; undefined if it has no such upload. */
  has(upload: Multipart, number: number): Promise<boolean | undefined>;
  /** Stores a part. Throws `UploadClosedError` if the bucket has no such upload. */
  send(upload: Multipart, part: PartBytes): Promise<void>;
  /**
   * Joins the parts, all in the order of their numbers, into the object of the key; the upload is then gone. Throws `UploadClosedError` if
   * the bucket has no such upload, and `BlobExistsError` if another object has the key.
   */
  join(upload: Multipart, parts: readonly StoredPart[]): Promise<void>;
  /** Says whether the object of the key was made of this upload, asked while there is an object. */
  isJoined(upload: Multipart): Promise<boolean>;
  /** After this the upload neither holds a byte nor can become the object. */
  abort(upload: Multipart): Promise<void>;
  /** Aborts all uploads of the key, even those that are not known because the answer to their beginning was lost. */
  abortAll(key: string): Promise<void>;
  /** Lists what uploads hold whose keys begin so, in the order of the keys but for a few; a key may come more than once. */
  listUnfinished(prefix: string): AsyncIterable<ListedObject>;
}
