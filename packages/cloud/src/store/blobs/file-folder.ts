import { createHash, randomBytes } from "node:crypto";
import { constants, createReadStream } from "node:fs";
import { chmod, copyFile, open, opendir, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { Readable } from "node:stream";
import { isSystemError, makeDurableDirectory, readTextIfThere, syncDirectory, writeHashed } from "./durable-file.ts";
import { checkName, type Folder, type FolderFile, type WrittenFile } from "./folder.ts";
import { findFile } from "./key-files.ts";

const TEMPORARY = ".temporary";

/** A folder on this machine. Everything in it is for its owner alone. */
export async function openFileFolder(root: string): Promise<Folder> {
  await makeDurableDirectory(root);
  await chmod(root, 0o700);
  return {
    address: root,
    put: (name, body) => writeUnder(pathOf(root, name), (temporary) => writeBody(temporary, body)),
    putCopy: (name, from) => writeUnder(pathOf(root, name), (temporary) => writeCopy(temporary, from)),
    putText: async (name, text) => {
      await writeUnder(pathOf(root, name), (temporary) => writeBody(temporary, Readable.from([Buffer.from(text)])));
    },
    readText: (name) => readTextIfThere(pathOf(root, name)),
    read: (name) => readFileOf(pathOf(root, name)),
    list: (prefix) => listBelow(root, join(root, prefix)),
    remove: (name) => removeFile(root, pathOf(root, name)),
    [Symbol.dispose]: () => {},
  };
}

function pathOf(root: string, name: string): string {
  checkName(name);
  return join(root, name);
}

/** The file gets its name once it is whole; what a crash left under another one is removed with the folder's listing. */
async function writeUnder(path: string, write: (temporary: string) => Promise<WrittenFile>): Promise<WrittenFile> {
  await makeDurableDirectory(dirname(path));
  const temporary = `${path}.${randomBytes(8).toString("hex")}${TEMPORARY}`;
  try {
    const written = await write(temporary);
    await rename(temporary, path);
    await syncDirectory(dirname(path));
    return written;
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function writeBody(path: string, body: AsyncIterable<Uint8Array>): Promise<WrittenFile> {
  await using file = await open(path, "wx", 0o600);
  const written = await writeHashed(file, body);
  await file.sync();
  return written;
}

/** Reads the copy and not its source, so that the hash is of the bytes that were written. */
async function writeCopy(path: string, from: string): Promise<WrittenFile> {
  await copyFile(from, path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  await chmod(path, 0o600);
  await using file = await open(path, "r+");
  await file.sync();
  const hash = createHash("sha256");
  let sizeBytes = 0;
  for await (const piece of file.createReadStream({ autoClose: false, highWaterMark: 1024 * 1024 })) {
    hash.update(piece);
    sizeBytes += piece.byteLength;
  }
  return { sizeBytes, sha256: hash.digest("hex") };
}

/** With the folders that are empty then. */
async function removeFile(root: string, path: string): Promise<void> {
  await rm(path, { force: true });
  try {
    for (let folder = dirname(path); folder !== root; folder = dirname(folder)) await rmdir(folder);
  } catch (error) {
    if (!isSystemError(error, "ENOTEMPTY", "EEXIST", "ENOENT")) throw error;
  }
}

async function readFileOf(path: string): Promise<AsyncIterable<Uint8Array> | undefined> {
  return (await findFile(path)) ? createReadStream(path, { highWaterMark: 1024 * 1024 }) : undefined;
}

async function* listBelow(root: string, directory: string): AsyncGenerator<FolderFile, void> {
  for await (const entry of await openIfThere(directory)) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) yield* listBelow(root, path);
    else if (entry.name.endsWith(TEMPORARY)) await rm(path, { force: true });
    else {
      const found = await findFile(path);
      if (found) yield { name: relative(root, path), sizeBytes: found.size };
    }
  }
}

async function openIfThere(directory: string) {
  try {
    return await opendir(directory);
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return [];
    throw error;
  }
}
