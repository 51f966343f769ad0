import type { Stats } from "node:fs";
import { type FileHandle, open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { UploadClosedError } from "./blob-errors.ts";
import { isSystemError, syncDirectory } from "./durable-file.ts";
import type { KeyFiles } from "./file-layout.ts";

export async function findFile(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return undefined;
    throw error;
  }
}

/**
 * Finds the object and makes it durable: as long as it has a second name too, its own may not have been synced, because the process that
 * linked it may have died.
 */
export async function findObject(files: KeyFiles): Promise<Stats | undefined> {
  const found = await findFile(files.object);
  if (found && found.nlink > 1) await syncDirectory(files.directory);
  return found;
}

/** Opens the file of the parts for reading and writing. Throws {@link UploadClosedError} if the upload was aborted or completed. */
export async function openPartial(key: string, files: KeyFiles): Promise<FileHandle> {
  try {
    return await open(files.partial, "r+");
  } catch (error) {
    throw isSystemError(error, "ENOENT") ? new UploadClosedError(key) : error;
  }
}

/** Removes all files of the key but the object. The journal goes first: from then on the upload is closed. */
export async function removeUnfinished(files: KeyFiles): Promise<void> {
  await rm(files.journal, { force: true });
  for (const name of await listNames(files)) await rm(join(files.directory, name), { force: true });
}

/** Lists the names of all files of the key but the object. */
export async function listNames(files: KeyFiles): Promise<string[]> {
  return (await readdir(files.directory)).filter((name) => name.startsWith(`${files.name}.`));
}
