// After a failed sync we never just sync again: the second sync would succeed without the bytes being on the disk. The parts that the
// failed sync may have touched become `void` and are sent again.

import { createHash } from "node:crypto";
import { type FileHandle, link, mkdir, open, readFile, rm } from "node:fs/promises";
import { dirname } from "node:path";

/** Makes a directory and those above it; once this returns, they survive a power cut. */
export async function makeDurableDirectory(path: string): Promise<void> {
  const firstMade = await mkdir(path, { recursive: true, mode: 0o700 });
  if (firstMade === undefined) return;
  const outermost = dirname(firstMade);
  for (let made = path; made !== outermost; made = dirname(made)) await syncDirectory(dirname(made));
}

/** Makes the names in a directory durable: both added and removed ones. */
export async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, "r");
  await directory.sync();
}

/** Gives a synced file its final, durable name. It never replaces a file: throws EEXIST. After a failure nothing has that name. */
export async function publishFile(temporary: string, final: string): Promise<void> {
  await link(temporary, final);
  try {
    await syncDirectory(dirname(final));
  } catch (error) {
    await rm(final, { force: true });
    throw error;
  }
}

/** Writes all of `bytes` at `position`. After a short write it goes on, and so meets the error that caused it. */
export async function writeFully(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  let written = 0;
  while (written < bytes.byteLength) {
    const rest = bytes.byteLength - written;
    written += (await file.write(bytes, written, rest, position + written)).bytesWritten;
  }
}

/** Writes a whole body from the beginning of an open file; the caller syncs it. Answers what was written. */
export async function writeHashed(
  file: FileHandle,
  body: AsyncIterable<Uint8Array>,
): Promise<{ sizeBytes: number; sha256: string }> {
  const hash = createHash("sha256");
  let sizeBytes = 0;
  for await (const piece of body) {
    hash.update(piece);
    await writeFully(file, piece, sizeBytes);
    sizeBytes += piece.byteLength;
  }
  return { sizeBytes, sha256: hash.digest("hex") };
}

/** Undefined where there is no such file. */
export async function readTextIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return undefined;
    throw error;
  }
}

export function isSystemError(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && codes.includes((error as NodeJS.ErrnoException).code ?? "");
}
