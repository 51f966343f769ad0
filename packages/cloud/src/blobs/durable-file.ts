// A failed sync is never retried as if fine: the next one would succeed without the bytes being there. The parts it
// may have touched become `void` and are sent again.

import { type FileHandle, link, mkdir, open, rm } from "node:fs/promises";
import { dirname } from "node:path";

/** Makes a directory and those above it; once it returns they outlive a power cut. */
export async function makeDurableDirectory(path: string): Promise<void> {
  const firstMade = await mkdir(path, { recursive: true, mode: 0o700 });
  if (firstMade === undefined) return;
  const outermost = dirname(firstMade);
  for (let made = path; made !== outermost; made = dirname(made)) await syncDirectory(dirname(made));
}

/** Makes the names in a directory durable: those just added and those just removed. */
export async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, "r");
  await directory.sync();
}

/** Gives a synced file its final, durable name. Never replaces: throws EEXIST. Nothing has the name when it throws. */
export async function publishFile(temporary: string, final: string): Promise<void> {
  await link(temporary, final);
  try {
    await syncDirectory(dirname(final));
  } catch (error) {
    await rm(final, { force: true });
    throw error;
  }
}

/** Writes all of `bytes` at `position`; a write that comes up short is carried on, and so meets the error behind it. */
export async function writeFully(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  let written = 0;
  while (written < bytes.byteLength) {
    const rest = bytes.byteLength - written;
    written += (await file.write(bytes, written, rest, position + written)).bytesWritten;
  }
}

export function isSystemError(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && codes.includes((error as NodeJS.ErrnoException).code ?? "");
}
