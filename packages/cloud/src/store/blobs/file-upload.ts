import { open, rm } from "node:fs/promises";
import {
  BlobDamagedError,
  BlobExistsError,
  PartConflictError,
  PartsMissingError,
  UploadClosedError,
  UploadMismatchError,
} from "./blob-errors.ts";
import type { PartPlan, PartReceipt, UploadPlan } from "./blob-store.ts";
import { isSystemError, publishFile, syncDirectory } from "./durable-file.ts";
import { filesOf, type KeyFiles, temporaryFile } from "./file-layout.ts";
import { findObject, openPartial, removeUnfinished } from "./key-files.ts";
import { formatPlan, type JournalState, openJournal } from "./part-journal.ts";
import { checkPart, checkParts, checkPlan } from "./part-plan.ts";

/**
 * Implements BlobStore.createUpload: first the file for the parts, then the journal, which makes the upload open as soon as it has its
 * name.
 */
export async function createUpload(root: string, key: string, plan: UploadPlan): Promise<void> {
  checkPlan(plan);
  const files = filesOf(root, key);
  if (await findObject(files)) throw new BlobExistsError(key);
  await (await open(files.partial, "a", 0o600)).close();
  await publishJournal(files, plan);
  await using journal = await openJournal(key, files);
  const { plan: known } = await journal.read();
  if (known.sizeBytes !== plan.sizeBytes || known.partSizeBytes !== plan.partSizeBytes)
    throw new UploadMismatchError(key);
}

export async function listParts(root: string, key: string): Promise<PartReceipt[]> {
  await using journal = await openJournal(key, filesOf(root, key));
  return listKeptParts(await journal.readDurable());
}

/** Throws what BlobStore.grantParts throws; a part for which this returns may be sent. */
export async function checkGrantable(root: string, key: string, parts: readonly PartPlan[]): Promise<void> {
  await using journal = await openJournal(key, filesOf(root, key));
  const { plan, taken } = await journal.read();
  for (const part of parts) {
    checkPart(plan, part);
    const other = taken.get(part.number);
    if (other && other.digest !== part.digest) throw new PartConflictError(part.number);
  }
}

/** Implements BlobStore.completeUpload. Once the object has its name the upload is complete, whatever else a crash leaves behind. */
export async function completeUpload(root: string, key: string, parts: readonly PartReceipt[]): Promise<void> {
  const files = filesOf(root, key);
  try {
    await publishParts(key, files, parts);
  } catch (error) {
    if (!(error instanceof UploadClosedError)) throw error;
    await checkComplete(files, { parts, otherwise: error });
  }
  await removeUnfinished(files);
  await syncDirectory(files.directory);
}

export async function abortUpload(root: string, key: string): Promise<void> {
  const files = filesOf(root, key);
  await removeUnfinished(files);
  await syncDirectory(files.directory);
}

async function publishJournal(files: KeyFiles, plan: UploadPlan): Promise<void> {
  const temporary = temporaryFile(files);
  await using leftovers = new AsyncDisposableStack();
  await using file = await open(temporary, "wx", 0o600);
  leftovers.defer(() => rm(temporary, { force: true }));
  await file.writeFile(formatPlan(plan));
  await file.sync();
  try {
    await publishFile(temporary, files.journal);
  } catch (error) {
    if (!isSystemError(error, "EEXIST")) throw error;
    await syncDirectory(files.directory); // the process that made it may have died before the sync
  }
}

async function publishParts(key: string, files: KeyFiles, parts: readonly PartPlan[]): Promise<void> {
  await using journal = await openJournal(key, files);
  const state = await journal.readDurable();
  checkParts(state.plan, parts, listKeptParts(state));
  await using partial = await openPartial(key, files);
  const { size, ino } = await partial.stat();
  if (size !== state.plan.sizeBytes) throw new BlobDamagedError(key);
  try {
    await partial.sync();
  } catch (error) {
    await journal.recordVoid(state.kept);
    throw error;
  }
  try {
    await publishFile(files.partial, files.object);
  } catch (error) {
    if (isSystemError(error, "ENOENT")) throw new UploadClosedError(key);
    if (!isSystemError(error, "EEXIST")) throw error;
    if ((await findObject(files))?.ino !== ino) throw new BlobExistsError(key);
  }
}

/** If no upload is open, an object of the announced length comes from an earlier completion. */
async function checkComplete(
  files: KeyFiles,
  { parts, otherwise }: { parts: readonly PartPlan[]; otherwise: UploadClosedError },
): Promise<void> {
  const object = await findObject(files);
  if (!object) throw otherwise;
  const statedBytes = parts.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0);
  if (statedBytes !== object.size)
    throw new PartsMissingError(`the parts as stated have ${statedBytes} bytes, the completed upload ${object.size}`);
}

function listKeptParts({ taken, kept }: JournalState): PartReceipt[] {
  return [...taken.values()].filter(({ number }) => kept.has(number)).sort((a, b) => a.number - b.number);
}
