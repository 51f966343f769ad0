import { access, constants, mkdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { LinkSigner } from "../../core/signed-link.ts";
import { StorageFullError } from "./blob-errors.ts";
import type { BlobStore, StoredObject } from "./blob-store.ts";
import { checkPiecesGrantable, composePart, listPieces } from "./compose-part.ts";
import { isSystemError, makeDurableDirectory, syncDirectory } from "./durable-file.ts";
import { filesOf } from "./file-layout.ts";
import { listFiles } from "./file-list.ts";
import { getNote, listNotes, putNote, removeNote } from "./file-notes.ts";
import { putFile } from "./file-put.ts";
import { openFileReader } from "./file-reader.ts";
import { abortUpload, checkGrantable, completeUpload, createUpload, listParts } from "./file-upload.ts";
import type { KeepBeginning } from "./fill-verified.ts";
import { findObject, removeUnfinished } from "./key-files.ts";
import { etagOf } from "./object-key.ts";
import { grantPart, grantPiece } from "./part-link.ts";
import { createPartMemory } from "./part-memory.ts";
import { receivePart } from "./receive-part.ts";
import { receivePiece } from "./receive-piece.ts";

const NS_PER_MS = 1_000_000n;
const HOUR_MS = 60 * 60 * 1000;
const PART_MEMORY_BYTES = 128 * 1024 * 1024;

export interface FileStoreOptions {
  /** The directory is made if it is absent. Everything below it is on one file system; several processes may share it. */
  readonly directory: string;
  readonly signer: LinkSigner;
  /** The address that part links are built from, without a slash at the end. */
  readonly publicUrl: () => string;
  readonly clock: { nowNs(): bigint };
  /** How long a part link is valid. The default is one hour. */
  readonly grantTtlMs?: number;
  /** How many bytes of parts may wait for their verification in memory; other parts wait in temporary files. The default is 128 MiB. */
  readonly partMemoryBytes?: number;
}

/** A store whose part links lead to our own part route. */
export type FileStore = BlobStore & Required<Pick<BlobStore, "receivePart" | "receivePiece">>;

/**
 * Opens a store that keeps objects as files. Nothing is recovered at the start: whatever a crash interrupted is either whole or does not
 * count.
 */
export async function openFileStore(options: FileStoreOptions): Promise<FileStore> {
  const root = resolve(options.directory);
  await makeShards(root);
  const memory = createPartMemory(options.partMemoryBytes ?? PART_MEMORY_BYTES);
  const links = () => ({
    signer: options.signer,
    publicUrl: options.publicUrl(),
    expiresAtMs: Number(options.clock.nowNs() / NS_PER_MS) + (options.grantTtlMs ?? HOUR_MS),
  });
  return {
    put: (key, body, putOptions = {}) => mapStorageFull(putFile(root, { key, body, options: putOptions })),
    open: (key) => openFileReader(root, key),
    stat: (key) => statObject(root, key),
    delete: (key) => deleteObject(root, key),
    createUpload: (key, plan) => mapStorageFull(createUpload(root, key, plan)),
    listParts: (key) => listParts(root, key),
    async grantParts(key, parts) {
      await checkGrantable(root, key, parts);
      return parts.map((part) => grantPart(links(), key, part));
    },
    completeUpload: (key, parts) => mapStorageFull(completeUpload(root, key, parts)),
    abortUpload: (key) => abortUpload(root, key),
    listPieces: (key, partNumber) => listPieces(root, key, partNumber),
    async grantPieces(key, pieces) {
      await checkPiecesGrantable(root, key, pieces);
      return pieces.map((piece) => grantPiece(links(), key, piece));
    },
    composePart: (key, part) => mapStorageFull(composePart(root, key, part)),
    receivePiece: (key, piece, body) => mapStorageFull(receivePiece({ root, memory }, key, { piece, body })),
    check: () => checkDirectory(root),
    list: (prefix) => listFiles(root, prefix),
    putNote: (key, bytes) => mapStorageFull(putNote(root, key, bytes)),
    getNote: (key) => getNote(root, key),
    listNotes: (prefix) => listNotes(root, prefix),
    removeNote: (key) => removeNote(root, key),
    receivePart(key, part, body) {
      const keep: KeepBeginning = (piece, came) => receivePiece({ root, memory }, key, { piece, body: came });
      return mapStorageFull(receivePart({ root, memory }, key, { part, body, keep }));
    },
  };
}

/** All 256 directories are made at once, so that no write has to make and sync one. */
async function makeShards(root: string): Promise<void> {
  await makeDurableDirectory(root);
  const names = Array.from({ length: 256 }, (_, shard) => shard.toString(16).padStart(2, "0"));
  await Promise.all(names.map((name) => mkdir(join(root, name), { recursive: true, mode: 0o700 })));
  await syncDirectory(root);
}

/** When a disk is unmounted, the folder that it was mounted on remains, without the directories that were made at the start. */
async function checkDirectory(root: string): Promise<string | undefined> {
  try {
    await access(join(root, "00"), constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    if (isSystemError(error, "ENOENT", "ENOTDIR")) return "the object store is not there: is its disk mounted?";
    if (isSystemError(error, "EROFS", "EACCES", "EPERM")) return "the object store cannot be written";
    throw error;
  }
}

async function statObject(root: string, key: string): Promise<StoredObject | undefined> {
  const found = await findObject(filesOf(root, key));
  return found && { sizeBytes: found.size, modifiedAtMs: Math.trunc(found.mtimeMs), etag: etagOf(key) };
}

async function deleteObject(root: string, key: string): Promise<void> {
  const files = filesOf(root, key);
  await rm(files.object, { force: true });
  await removeUnfinished(files);
  await syncDirectory(files.directory);
}

/** Wraps the writing methods: only they can run out of room. */
async function mapStorageFull<T>(writing: Promise<T>): Promise<T> {
  try {
    return await writing;
  } catch (error) {
    throw isSystemError(error, "ENOSPC", "EDQUOT") ? new StorageFullError(error) : error;
  }
}
