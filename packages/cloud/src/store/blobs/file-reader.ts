import { type FileHandle, open } from "node:fs/promises";
import { BlobDamagedError, BlobNotFoundError } from "./blob-errors.ts";
import type { BlobReader, ByteRange } from "./blob-store.ts";
import { isSystemError } from "./durable-file.ts";
import { filesOf } from "./file-layout.ts";

const PIECE_BYTES = 256 * 1024;

export async function openFileReader(root: string, key: string): Promise<BlobReader> {
  const file = await openObject(root, key);
  const sizeBytes = (await file.stat()).size;
  const read = (offset: number, length: number) => readExactly(file, { key, sizeBytes, offset, length });
  return {
    sizeBytes,
    descriptor: file.fd,
    read,
    stream: (range = { start: 0, endInclusive: sizeBytes - 1 }, signal) => readPieces(read, range, signal),
    [Symbol.asyncDispose]: () => file.close(),
  };
}

async function openObject(root: string, key: string): Promise<FileHandle> {
  try {
    return await open(filesOf(root, key).object, "r");
  } catch (error) {
    throw isSystemError(error, "ENOENT") ? new BlobNotFoundError(key) : error;
  }
}

interface ReadPlace {
  readonly key: string;
  readonly sizeBytes: number;
  readonly offset: number;
  readonly length: number;
}

async function readExactly(file: FileHandle, { key, sizeBytes, offset, length }: ReadPlace): Promise<Uint8Array> {
  const isInside = Number.isSafeInteger(offset) && Number.isSafeInteger(length) && offset >= 0 && length >= 0;
  if (!isInside || offset + length > sizeBytes)
    throw new RangeError(`no ${length} bytes at ${offset} in an object of ${sizeBytes}`);
  const bytes = Buffer.allocUnsafeSlow(length); // memory of its own: the caller may keep it without keeping a whole pool alive
  for (let filled = 0; filled < length; ) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, offset + filled);
    if (bytesRead === 0) throw new BlobDamagedError(key);
    filled += bytesRead;
  }
  return bytes;
}

type Read = (offset: number, length: number) => Promise<Uint8Array>;

async function* readPieces(read: Read, range: ByteRange, signal?: AbortSignal): AsyncGenerator<Uint8Array, void> {
  const end = range.endInclusive + 1;
  const readAt = (offset: number) => {
    const piece = read(offset, Math.min(PIECE_BYTES, end - offset));
    piece.catch(() => {}); // the error is thrown when the piece's turn comes, and never if the consumer stops before
    return piece;
  };
  let ahead = range.start < end ? readAt(range.start) : undefined;
  for (let offset = range.start; ahead; offset += PIECE_BYTES) {
    signal?.throwIfAborted();
    const piece = await ahead;
    ahead = offset + PIECE_BYTES < end ? readAt(offset + PIECE_BYTES) : undefined;
    yield piece;
  }
}
