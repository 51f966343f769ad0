import { type FileHandle, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { SALVAGE_RECORD_NAME } from "@downlink/protocol";
import {
  FileSource,
  inspectRecording,
  type RandomAccessSource,
  RecordingError,
  type Salvage,
  SalvageEmptyError,
  salvageRecording,
} from "@downlink/recordings";
import { syncDirectory } from "../durable/durable-file.ts";
import { durableWrites } from "../durable/durable-steps.ts";
import { checkUnmoved, isInside, openTracked, type Storage } from "../files/open-tracked.ts";
import { PARTIAL, salvagePathOf } from "../files/salvage-path.ts";
import type { Findings, TrackedFile } from "../inventory/tracked-file.ts";
import { measureDisk } from "../system/measure-disk.ts";
import { agentVersion } from "../system/version.ts";

/** There is no room for the salvage, or the root cannot be written. */
export class NoRoomError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "NoRoomError";
  }
}

export interface SalvageJob {
  readonly storage: Storage;
  readonly file: TrackedFile;
  /** Why the file is no recording. */
  readonly reason: Findings["reason"];
  readonly signal: AbortSignal;
}

/** The share of the disk that a salvage leaves free for new recordings. */
const FREE_SHARE = 0.05;
const CHECK_EVERY_BYTES = 64 * 1024 * 1024;

/**
 * Writes what is readable of a file into another one in the root: on the device, so that unreadable bytes do not cross the link, and before
 * the upload, whose parts need their digests first. After a crash there is nothing under the final name, or a whole recording. Throws
 * {@link SalvageEmptyError}, {@link NoRoomError}, `FileMovedError`, and what reading throws.
 */
export async function writeSalvage(job: SalvageJob): Promise<void> {
  const { storage, file } = job;
  const target = `${storage.root}/${salvagePathOf(file)}`;
  if (await exists(target)) return;
  const partial = target + PARTIAL;
  await using source = await openTracked(storage, file.path, file.identity);
  try {
    await makeDirectories(storage, dirname(salvagePathOf(file)));
    await writePieces(partial, { source, job });
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

async function writePieces(
  partial: string,
  { source, job }: { source: RandomAccessSource; job: SalvageJob },
): Promise<void> {
  const { file, signal } = job;
  const describe = (salvage: Salvage) => provenanceOf(job, salvage);
  await using out = await open(partial, "w", 0o644);
  let uncheckedBytes = CHECK_EVERY_BYTES;
  for await (const piece of salvageRecording(source, { fileName: file.path, describe, signal })) {
    uncheckedBytes += piece.byteLength;
    if (uncheckedBytes >= CHECK_EVERY_BYTES) {
      await requireRoom(dirname(partial));
      uncheckedBytes = 0;
    }
    await writeWhole(out, piece);
  }
  await out.sync();
}

/** Says from which file the salvage is, and what was lost. The control plane links the two by it. */
function provenanceOf({ file, reason }: SalvageJob, { lostBytes, damage }: Salvage) {
  const { versionId, path, identity } = file;
  const facts = { versionId, path, sizeBytes: `${identity.sizeBytes}`, modifiedAtNs: `${identity.mtimeNs}` };
  const why = { reasonCode: reason?.code ?? "", reason: reason?.text ?? "" };
  const lost = { lostBytes: `${lostBytes}`, ...(damage && { damage: JSON.stringify(damage) }) };
  return { name: SALVAGE_RECORD_NAME, metadata: { ...facts, ...lost, ...why, agentVersion } };
}

async function writeWhole(out: FileHandle, piece: Uint8Array): Promise<void> {
  for (let done = 0; done < piece.byteLength; ) done += (await out.write(piece, done)).bytesWritten;
}

async function requireRoom(directory: string): Promise<void> {
  const disk = await measureDisk(directory);
  if (!disk || disk.freeBytes >= disk.totalBytes * FREE_SHARE) return;
  throw new NoRoomError(`less than ${FREE_SHARE * 100} % of the disk is free; a salvage leaves that to the recorder`);
}

/** Throws unless any reader takes the written file for a finished recording. */
async function requireFinished(path: string): Promise<void> {
  await using written = await FileSource.open(path);
  const inspection = await inspectRecording(written, { fileName: "salvage.mcap" });
  if (inspection.state === "empty") throw new SalvageEmptyError(path);
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
