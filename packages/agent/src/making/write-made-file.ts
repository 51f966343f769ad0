// A file that the agent makes of another one is in the storage root, so that it is listed, uploaded and deleted like any other. After a crash
// there is nothing under its final name, or a whole recording.

import { type FileHandle, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { FileSource, freeOwn, inspectRecording, type RandomAccessSource, RecordingError } from "@downlink/recordings";
import { syncDirectory } from "../durable/durable-file.ts";
import { durableWrites } from "../durable/durable-steps.ts";
import { PARTIAL } from "../files/made-path.ts";
import { checkUnmoved, isInside, isMissing, openTracked, type Storage } from "../files/open-tracked.ts";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import type { MeasureRoom, Room } from "./measure-room.ts";

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
  readonly room: MeasureRoom;
  /** About how large it becomes, in bytes, where that is known before. */
  readonly expectedBytes?: number;
  /** Makes its content. The memory of a piece is the consumer's. */
  readonly pieces: (source: RandomAccessSource) => AsyncIterable<Uint8Array>;
}

/** So much is written at most before the room is measured again: others write, too. */
const MOST_UNMEASURED_BYTES = 64 * 1024 * 1024;
/** An estimate may be so many times too high. */
const ESTIMATE_DOUBT = 2;

/**
 * Writes a recording that is made of another one, unless it is there: on the device, and before the upload, whose parts need their digests
 * first. Throws {@link MadeEmptyError}, {@link NoRoomError}, `FileMovedError`, and what reading throws.
 */
export async function writeMadeFile({ storage, file, path, room, expectedBytes = 0, pieces }: MadeFile): Promise<void> {
  if (await isThere(storage, path)) return;
  const target = `${storage.root}/${path}`;
  const partial = target + PARTIAL;
  await using source = await openTracked(storage, file.path, file.identity);
  try {
    await makeDirectories(storage, dirname(path));
    await requireRoom(room, { writtenBytes: 0, neededBytes: expectedBytes / ESTIMATE_DOUBT });
    await writePieces(partial, pieces(source), room);
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

/** Whatever is there under the name, also a symlink, is removed and not written to. */
async function writePieces(partial: string, pieces: AsyncIterable<Uint8Array>, room: MeasureRoom): Promise<void> {
  await rm(partial, { force: true });
  await using out = await open(partial, "wx", 0o644);
  let [writtenBytes, grantedBytes] = [0, 0];
  for await (const piece of pieces) {
    const neededBytes = piece.byteLength;
    if (neededBytes > grantedBytes) {
      const { bytes } = await requireRoom(room, { writtenBytes, neededBytes });
      grantedBytes = Math.max(neededBytes, Math.min(bytes, MOST_UNMEASURED_BYTES));
    }
    await writeWhole(out, piece);
    freeOwn(piece);
    writtenBytes += neededBytes;
    grantedBytes -= neededBytes;
  }
  await out.sync();
}

async function writeWhole(out: FileHandle, piece: Uint8Array): Promise<void> {
  for (let done = 0; done < piece.byteLength; ) done += (await out.write(piece, done)).bytesWritten;
}

async function requireRoom(
  measure: MeasureRoom,
  { writtenBytes, neededBytes }: { readonly writtenBytes: number; readonly neededBytes: number },
): Promise<Room> {
  const room = await measure(writtenBytes);
  if (room.bytes < neededBytes) throw new NoRoomError(room.why);
  return room;
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
    if (!(await leadsInside(storage, directory))) throw new NoRoomError(`${absolute} leads out of the storage root`);
    await syncDirectory(dirname(absolute));
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}

async function isThere(storage: Storage, path: string): Promise<boolean> {
  return (await leadsInside(storage, path)) && (await stat(`${storage.root}/${path}`)).isFile();
}

/** False also where nothing is there, and where a symlink leads to nothing. */
async function leadsInside(storage: Storage, path: string): Promise<boolean> {
  try {
    return await isInside(storage, path);
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

function isNoRoom(error: unknown): error is Error {
  return ["ENOSPC", "EDQUOT", "EROFS", "EACCES", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "");
}
