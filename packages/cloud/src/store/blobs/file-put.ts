// An object gets its name by a hard link and not by a rename, because a link never replaces a file: fsync of the file, link, fsync of the
// directory. So the file system must have hard links. An object with two names belongs to a put that crashed or still runs; its directory
// is synced before any process reads of it.

import { createHash } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { abortable } from "../../core/abortable.ts";
import { BlobExistsError } from "./blob-errors.ts";
import type { PutOptions } from "./blob-store.ts";
import { checkLength } from "./body-length.ts";
import { isSystemError, publishFile, writeFully } from "./durable-file.ts";
import { filesOf, temporaryFile } from "./file-layout.ts";

const BLOCK_BYTES = 1024 * 1024;
/** A body is written in blocks of at least this size; a smaller body is one block. */
const SMALLEST_BLOCK_BYTES = 64 * 1024;
const zeros = Buffer.alloc(BLOCK_BYTES);

/** Implements BlobStore.put: the bytes go into a temporary file, which is synced and then linked to its name. */
export async function putFile(
  root: string,
  object: { key: string; body: AsyncIterable<Uint8Array>; options: PutOptions },
): Promise<{ sizeBytes: number; sha256: string }> {
  const { key, options } = object;
  const files = filesOf(root, key);
  const temporary = temporaryFile(files);
  await using leftovers = new AsyncDisposableStack();
  await using file = await open(temporary, "wx", 0o600);
  leftovers.defer(() => rm(temporary, { force: true }));
  const body = options.signal ? abortable(object.body, options.signal) : object.body;
  const written = await writeHashed(file, body, options);
  await file.sync();
  try {
    await publishFile(temporary, files.object);
  } catch (error) {
    throw isSystemError(error, "EEXIST") ? new BlobExistsError(key) : error;
  }
  return written;
}

/** One block is written while the next one is filled, so that the network and the disk work at the same time. */
async function writeHashed(file: FileHandle, body: AsyncIterable<Uint8Array>, options: PutOptions) {
  const { expectedBytes = BLOCK_BYTES } = options;
  const blockBytes = Math.max(SMALLEST_BLOCK_BYTES, Math.min(BLOCK_BYTES, expectedBytes));
  const hash = createHash("sha256");
  let writing = Promise.resolve();
  let sizeBytes = 0;
  for await (const block of fillBlocks(checkLength(body, options), blockBytes)) {
    hash.update(block);
    await writing;
    if (!isHole(block)) writing = writeFully(file, block, sizeBytes);
    writing.catch(() => {}); // The error is thrown at the next await; until then it must not count as unhandled
    sizeBytes += block.byteLength;
  }
  await writing;
  await file.truncate(sizeBytes); // the file may end with a hole
  return { sizeBytes, sha256: hash.digest("hex") };
}

/** Recorders fill files with zeros ahead: blocks of zeros stay holes, which take no room and no time. */
function isHole(block: Uint8Array): boolean {
  return zeros.subarray(0, block.byteLength).equals(block);
}

/** Joins pieces of any size into blocks of `blockBytes`, in two buffers by turns: a block is valid until the next but one is requested. */
async function* fillBlocks(pieces: AsyncIterable<Uint8Array>, blockBytes: number): AsyncGenerator<Uint8Array> {
  let filling = Buffer.allocUnsafeSlow(blockBytes);
  let resting: Buffer<ArrayBuffer> | undefined;
  let filledBytes = 0;
  for await (const piece of pieces) {
    for (let taken = 0; taken < piece.byteLength; ) {
      const fitting = piece.subarray(taken, taken + blockBytes - filledBytes);
      filling.set(fitting, filledBytes);
      filledBytes += fitting.byteLength;
      taken += fitting.byteLength;
      if (filledBytes < blockBytes) continue;
      yield filling;
      [filling, resting] = [resting ?? Buffer.allocUnsafeSlow(blockBytes), filling];
      filledBytes = 0;
    }
  }
  if (filledBytes > 0) yield filling.subarray(0, filledBytes);
}
