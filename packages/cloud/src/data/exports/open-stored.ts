// Exports plan by what the import has verified (`background/indexing/`), never by what a file says about itself. The import reads the
// stored bytes once: for their SHA-256, for the verdict, and for the verified index, an object beside the data
// (`background/indexing/index-key.ts`).

import { fetchAhead, INDEX_END_BYTES, type RandomAccessSource } from "@downlink/recordings";
import { ApiError } from "../../core/errors.ts";
import type { StoredDamage } from "../../import-life/stored-damage.ts";
import { BlobDamagedError, BlobNotFoundError } from "../../store/blobs/blob-errors.ts";
import type { BlobReader, BlobStore } from "../../store/blobs/blob-store.ts";
import type { StoredSource } from "./export-selection.ts";

/** The bytes that an export reads. */
export interface StoredBytes extends RandomAccessSource, AsyncDisposable {}

/** Opens the bytes of a recording. The holder of the link knows recordings and not objects, so errors name recordings. */
export async function openRecording(
  blobs: BlobStore,
  { recordingId, blobKey, sizeBytes }: StoredSource,
): Promise<StoredBytes> {
  const reader = await awaitIfThere(blobs.open(blobKey));
  if (!reader) throw new UnsoundDataError(newDeletedError(recordingId), blobKey, "missing");
  if (reader.sizeBytes === sizeBytes) return nameRecording(reader, recordingId);
  await reader[Symbol.asyncDispose]();
  throw new UnsoundDataError(unreadable(recordingId), blobKey, "truncated");
}

/** The store does not have what the link promises: if the recording was not deleted since, its data is damaged. */
export class UnsoundDataError extends ApiError {
  readonly blobKey: string;
  readonly damage: StoredDamage;

  constructor({ code, message }: ApiError, blobKey: string, damage: StoredDamage) {
    super(code, message);
    this.blobKey = blobKey;
    this.damage = damage;
  }
}

/**
 * Opens the verified index; undefined where there is none (older, or lost). Then the export makes a temporary one, and creating the link
 * has queued the job that makes the durable one; `downlink admin reindex` makes all of them.
 */
export async function openIndex(
  blobs: BlobStore,
  { recordingId, indexKey }: StoredSource,
): Promise<StoredBytes | undefined> {
  if (indexKey === undefined) return undefined;
  const reader = await awaitIfThere(blobs.open(indexKey, { endBytes: INDEX_END_BYTES }));
  return reader && nameRecording(reader, recordingId);
}

/** A selection that is an object of its own is removed some time after its link has expired. */
export async function openSelection(blobs: BlobStore, key: string): Promise<BlobReader> {
  const reader = await awaitIfThere(blobs.open(key));
  return reader ?? throwExpired();
}

function throwExpired(): never {
  throw new ApiError("LinkExpired", "the link has expired; ask for a new one");
}

async function awaitIfThere(opening: Promise<BlobReader>): Promise<BlobReader | undefined> {
  try {
    return await opening;
  } catch (error) {
    if (error instanceof BlobNotFoundError) return undefined;
    throw error;
  }
}

function nameRecording(reader: BlobReader, recordingId: string): StoredBytes {
  const source = bringWithinReach(reader);
  const read = async (offset: number, length: number): Promise<Uint8Array> => {
    try {
      return await source.read(offset, length);
    } catch (error) {
      throw toRecordingError(error, recordingId);
    }
  };
  return { ...source, read };
}

/** An object that is no file is fetched ahead, because each request to a bucket takes a while before its first byte. */
function bringWithinReach(reader: BlobReader): StoredBytes {
  if (reader.descriptor !== undefined) return reader;
  const source = fetchAhead(reader);
  return {
    ...source,
    async [Symbol.asyncDispose]() {
      source[Symbol.dispose]();
      await reader[Symbol.asyncDispose]();
    },
  };
}

function toRecordingError(error: unknown, recordingId: string): unknown {
  if (error instanceof BlobDamagedError) return unreadable(recordingId);
  // An object in a bucket is gone at once, also for who has it open.
  return error instanceof BlobNotFoundError ? newDeletedError(recordingId) : error;
}

function newDeletedError(recordingId: string): ApiError {
  return new ApiError("NotFound", `the data of recording ${recordingId} is not stored any more: it was deleted`);
}

function unreadable(recordingId: string): ApiError {
  return new ApiError(
    "Internal",
    `the stored data of recording ${recordingId} are not what was imported; the operator has to look`,
  );
}
