import { randomBytes } from "node:crypto";
import { type FileHandle, link, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { RefusedError } from "../failures/failures.ts";

/** A file that gets its name once it is whole and on the disk. Unless it is kept, what was written is removed. */
export interface OutputFile extends AsyncDisposable {
  readonly path: string;
  readonly sizeBytes: number;
  write(chunk: Uint8Array): Promise<void>;
  keep(): Promise<void>;
}

/** Throws {@link RefusedError} for a file that is there, unless it may be written over, and always for what is no file. */
export async function openOutput(path: string, { force }: { force: boolean }): Promise<OutputFile> {
  await refuseTaken(path, force);
  const beside = `${path}.${randomBytes(4).toString("hex")}.part`;
  const handle = await open(beside, "wx");
  let [sizeBytes, isOpen] = [0, true];
  return {
    path,
    get sizeBytes() {
      return sizeBytes;
    },
    async write(chunk) {
      await writeAll(handle, chunk);
      sizeBytes += chunk.length;
    },
    async keep() {
      await handle.sync();
      await handle.close();
      isOpen = false;
      await (force ? rename(beside, path) : takeName(beside, path));
      await syncFolder(dirname(path));
    },
    async [Symbol.asyncDispose]() {
      if (isOpen) await handle.close();
      await rm(beside, { force: true });
    },
  };
}

async function refuseTaken(path: string, force: boolean): Promise<void> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  if (found && !found.isFile()) throw new RefusedError(`${path} is not a file`);
  if (found && !force) throw isThere(path);
}

const isThere = (path: string) => new RefusedError(`${path} exists already. --force overwrites it`);

/** A rename would write over a file that came in the meantime; some file systems know nothing else. */
async function takeName(beside: string, path: string): Promise<void> {
  try {
    await link(beside, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw isThere(path);
    await rename(beside, path);
  }
}

async function writeAll(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length; ) at += (await handle.write(chunk, at)).bytesWritten;
}

async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, "r");
  await folder.sync();
}
