// Exports plan by what the import has verified (`indexing/`, `indexRecording` of `@downlink/recordings`), never by
// what a file says of itself. The import reads the stored bytes once: for their SHA-256, for the verdict, and for
// the verified index, an object beside the data that the request's row names before its first byte and the
// recording's row from then on. It goes with the data, or when another attempt names a new one; the sweep removes
// those that no row names, because they can be made anew. A recording without one (older, or lost) is exported by a
// temporary one, and asking for the link queues the job that makes the durable one; `downlink admin reindex` makes
// all.

import { BlobDamagedError, BlobNotFoundError } from "../blobs/blob-errors.ts";
import type { BlobReader, BlobStore } from "../blobs/blob-store.ts";
import { ApiError } from "../core/errors.ts";
import type { StoredSource } from "./export-selection.ts";

/** The bytes of a recording. Whoever holds the link knows recordings, not objects: errors name those. */
export async function openRecording(
  blobs: BlobStore,
  { recordingId, blobKey, sizeBytes }: StoredSource,
): Promise<BlobReader> {
  const reader = await orUndefined(blobs.open(blobKey));
  if (!reader)
    throw new ApiError("NotFound", `the data of recording ${recordingId} is not stored any more: it was deleted`);
  if (reader.sizeBytes === sizeBytes) return namingRecording(reader, recordingId);
  await reader[Symbol.asyncDispose]();
  throw unreadable(recordingId);
}

/** Undefined where there is none: it may be in the making. */
export async function openIndex(blobs: BlobStore, { indexKey }: StoredSource): Promise<BlobReader | undefined> {
  return indexKey === undefined ? undefined : orUndefined(blobs.open(indexKey));
}

/** A selection that is an object of its own is removed some time after its link has expired. */
export async function openSelection(blobs: BlobStore, key: string): Promise<BlobReader> {
  const reader = await orUndefined(blobs.open(key));
  return reader ?? expired();
}

function expired(): never {
  throw new ApiError("LinkExpired", "the link has expired; ask for a new one");
}

async function orUndefined(opening: Promise<BlobReader>): Promise<BlobReader | undefined> {
  try {
    return await opening;
  } catch (error) {
    if (error instanceof BlobNotFoundError) return undefined;
    throw error;
  }
}

function namingRecording(reader: BlobReader, recordingId: string): BlobReader {
  const read = async (offset: number, length: number): Promise<Uint8Array> => {
    try {
      return await reader.read(offset, length);
    } catch (error) {
      throw error instanceof BlobDamagedError ? unreadable(recordingId) : error;
    }
  };
  const { sizeBytes, descriptor } = reader;
  return {
    sizeBytes,
    read,
    stream: (range, signal) => reader.stream(range, signal),
    ...(descriptor !== undefined && { descriptor }),
    [Symbol.asyncDispose]: () => reader[Symbol.asyncDispose](),
  };
}

function unreadable(recordingId: string): ApiError {
  return new ApiError(
    "Internal",
    `the stored data of recording ${recordingId} are not what was imported; tell the operator`,
  );
}
