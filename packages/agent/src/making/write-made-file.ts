// A file that the agent makes of another one is in the storage root, so that it is listed, uploaded and deleted like any other. After a crash
// there is nothing under its final name, or a whole recording.

import { type FileHandle, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { FileSource, inspectRecording, type RandomAccessSource, RecordingError } from "@downlink/recordings";
import { syncDirectory } from "../durable/durable-file.ts";
import { durableWrites } from "../durable/durable-steps.ts";
import { PARTIAL } from "../files/made-path.ts";
import { checkUnmoved, isInside, openTracked, type Storage } from "../files/open-tracked.ts";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import { measureDisk } from "../system/measure-disk.ts";

/** There is no room for the file, or the root cannot be written. */
export class NoRoomError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "NoRoomError";
  }
}

/** The file would hold no message. */
export class MadeEmptyError extends Error {
  constructor(path: string) {
    super(`${path} would hold no message`);
    this.name = "MadeEmptyError";
  }
}

export interface MadeFile {
  readonly storage: Storage;
  /** The file of which it is made. */
  readonly file: TrackedFile;
  /** Where it is written, relative to the root: two directories and a name. */
  readonly path: string;
  /** Makes its content. */
  readonly pieces: (source: RandomAccessSource) => AsyncIterable<Uint8Array>;
}

/** The share of the disk that is left free for new recordings. */
const FREE_SHARE = 0.05;
const CHECK_EVERY_BYTES = 64 * 1024 * 1024;

/**
 * Writes a recording that is made of another one, unless it is there: on the device, and before the upload, whose parts need their digests
 * first. Throws {@link MadeEmptyError}, {@link NoRoomError}, `FileMovedError`, and what reading throws.
 */
export async function writeMadeFile({ storage, file, path, pieces }: MadeFile): Promise<void> {
  const target = `${storage.root}/${path}`;
  if (await exists(target)) return;
  const partial = target + PARTIAL;
  await using source = await openTracked(storage, file.path, file.identity);
  try {
    await makeDirectories(storage, dirname(path));
    await writePieces(partial, pieces(source));
    await requireFinished(partial);
    await checkUnmoved(storage, { source, path: file.path, identity: file.identity });
    await durableWrites.tracePromise(() => rename(partial, target), { what: "file", path: target });
    await syncDirectory(dirname(target));
  } catch (error) {
    await rm(partial, { force: true });
    if (isNoRoom(error)) throw new NoRoomError(`nothing can be written into ${dirname(target)}: ${error.message}`);
    throw error;
  }
}

async function writePieces(partial: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  await using out = await open(partial, "w", 0o644);
  let uncheckedBytes = CHECK_EVERY_BYTES;
  for await (const piece of pieces) {
    uncheckedBytes += piece.byteLength;
    if (uncheckedBytes >= CHECK_EVERY_BYTES) {
      await requireRoom(dirname(partial));
      uncheckedBytes = 0;
    }
    await writeWhole(out, piece);
  }
  await out.sync();
}

async function writeWhole(out: FileHandle, piece: Uint8Array): Promise<void> {
  for (let done = 0; done < piece.byteLength; ) done += (await out.write(piece, done)).bytesWritten;
}

async function requireRoom(directory: string): Promise<void> {
  const disk = await measureDisk(directory);
  if (!disk || disk.freeBytes >= disk.totalBytes * FREE_SHARE) return;
  throw new NoRoomError(`less than ${FREE_SHARE * 100} % of the disk is free; that is left to the recorder`);
}

/** Throws unless any reader takes the written file for a finished recording. */
async function requireFinished(path: string): Promise<void> {
  await using written = await FileSource.open(path);
  const inspection = await inspectRecording(written, { fileName: "made.mcap" });
  if (inspection.state === "empty") throw new MadeEmptyError(path);
  if (inspection.state !== "finished") throw new RecordingError(inspection.reason.code, inspection.reason.text);
}

/** Makes the directories of a path, none of which may lead out of the root. */
async function makeDirectories(storage: Storage, path: string): Promise<void> {
  for (const directory of [dirname(path), path]) {
    const absolute = `${storage.root}/${directory}`;
    await mkdir(absolute).catch(ignoreExisting);
    if (!(await isInside(storage, directory))) throw new NoRoomError(`${absolute} leads out of the storage root`);
    await syncDirectory(dirname(absolute));
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isFile(),
    () => false,
  );
}

function isNoRoom(error: unknown): error is Error {
  return ["ENOSPC", "EDQUOT", "EROFS", "EACCES", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "");
}
