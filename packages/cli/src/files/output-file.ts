import { randomBytes } from "node:crypto";
import { constants, type FileHandle, link, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { RefusedError } from "../failures/failures.ts";

/** A file that gets its name once it is whole and on the disk. Unless it is kept, what was written is removed. */
export interface OutputFile extends AsyncDisposable {
  readonly path: string;
  /** The bytes that were written, those of an earlier opening among them. */
  readonly sizeBytes: number;
  /** Reads what was written. */
  written(): AsyncIterable<Uint8Array>;
  write(chunk: Uint8Array): Promise<void>;
  keep(): Promise<void>;
  /** Forgets what was written. */
  discard(): Promise<void>;
}

/** Its name is known beforehand, so a link that another user put in its place is not followed. */
const PART_FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;
const READ_BYTES = 1024 * 1024;

interface Opening {
  readonly force: boolean;
  /**
   * Names the bytes of the file. Unless it is kept or discarded, what was written stays then, and who opens the file again goes on behind
   * it. Two programs at once do no harm: both write the same bytes to the same places.
   */
  readonly resumeAs?: string | undefined;
}

/** Throws {@link RefusedError} for a file that is there, unless it may be written over, and always for what is no file. */
export async function openOutput(path: string, { force, resumeAs }: Opening): Promise<OutputFile> {
  await refuseTaken(path, force);
  const beside = `${path}.${resumeAs ?? randomBytes(4).toString("hex")}.part`;
  const handle = await open(beside, resumeAs === undefined ? "wx" : PART_FLAGS);
  let [sizeBytes, isOpen] = [(await handle.stat()).size, true];
  let isKeptPart = resumeAs !== undefined;
  return {
    path,
    get sizeBytes() {
      return sizeBytes;
    },
    written: () => readAll(handle),
    async write(chunk) {
      await writeAll(handle, chunk, sizeBytes);
      sizeBytes += chunk.length;
    },
    async discard() {
      await handle.truncate(0);
      sizeBytes = 0;
      isKeptPart = false;
    },
    async keep() {
      await handle.sync();
      await handle.close();
      isOpen = false;
      await (force ? rename(beside, path) : takeName(beside, path));
      await syncFolder(dirname(path));
    },
    async [Symbol.asyncDispose]() {
      const isPart = isOpen && isKeptPart && sizeBytes > 0;
      if (isOpen) await handle.close();
      if (!isPart) await rm(beside, { force: true });
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

async function* readAll(handle: FileHandle): AsyncGenerator<Uint8Array> {
  for (let offset = 0; ; ) {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(READ_BYTES), 0, READ_BYTES, offset);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    offset += bytesRead;
  }
}

async function writeAll(handle: FileHandle, chunk: Uint8Array, offset: number): Promise<void> {
  for (let at = 0; at < chunk.length; )
    at += (await handle.write(chunk, at, chunk.length - at, offset + at)).bytesWritten;
}

async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, "r");
  await folder.sync();
}
