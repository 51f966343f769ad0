import { createHash } from "node:crypto";
import type { Folder, FolderFile } from "../../store/blobs/folder.ts";
import { BackupError } from "./backup-errors.ts";
import { isOfBackup } from "./backup-record.ts";
import { type BackupKey, decrypt, encrypt, plainSizeOf, readSeal } from "./encrypted-stream.ts";

/** So many files are looked at until one is as expected: a damaged one says nothing of its place. */
const LOOKED_AT = 3;
/** The size of a file that is not an encrypted one. */
const NO_SIZE = -1;

/**
 * Encrypts what is written into a folder, and decrypts what is read; sizes and hashes are those of the bytes before that. Without a key it is the
 * folder itself. Throws if what the folder holds is encrypted by another key, or if only one of both is encrypted.
 */
export async function encryptFolder(folder: Folder, key: BackupKey | undefined): Promise<Folder> {
  await requireFittingKey(folder, key);
  return key === undefined ? folder : wrapFolder(folder, key);
}

function wrapFolder(folder: Folder, key: BackupKey): Folder {
  const read: Folder["read"] = async (name) => {
    const body = await folder.read(name);
    return body && decrypt(body, { key, name });
  };
  const put: Folder["put"] = async (name, body) => {
    const hash = createHash("sha256");
    let sizeBytes = 0;
    const counted = count(body, (piece) => {
      hash.update(piece);
      sizeBytes += piece.byteLength;
    });
    await folder.put(name, encrypt(counted, { key, name }));
    return { sizeBytes, sha256: hash.digest("hex") };
  };
  return {
    address: folder.address,
    put,
    read,
    putText: async (name, text) => void (await put(name, toStream(Buffer.from(text)))),
    readText: async (name) => {
      const body = await read(name);
      return body && Buffer.concat(await Array.fromAsync(body)).toString();
    },
    list: (prefix) => listPlain(folder, prefix),
    remove: (name) => folder.remove(name),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

async function* count(body: AsyncIterable<Uint8Array>, onPiece: (piece: Uint8Array) => void) {
  for await (const piece of body) {
    onPiece(piece);
    yield piece;
  }
}

async function* toStream(bytes: Buffer) {
  yield bytes;
}

async function* listPlain(folder: Folder, prefix: string): AsyncGenerator<FolderFile, void> {
  for await (const { name, sizeBytes } of folder.list(prefix))
    yield { name, sizeBytes: plainSizeOf(sizeBytes) ?? NO_SIZE };
}

async function requireFittingKey(folder: Folder, key: BackupKey | undefined): Promise<void> {
  const expected = key === undefined ? "none" : "thisKey";
  const seals = new Set<Awaited<ReturnType<typeof readSeal>>>();
  let looked = 0;
  for await (const { name } of folder.list("")) {
    if (!isOfBackup(name)) continue;
    const body = await folder.read(name);
    if (body) seals.add(await readSeal(body, key));
    looked += 1;
    if (seals.has(expected)) return;
    if (looked === LOOKED_AT) break;
  }
  if (seals.size > 0) throw new BackupError(`${folder.address} ${sayMisfit(key, seals.has("otherKey"))}`);
}

function sayMisfit(key: BackupKey | undefined, isEncrypted: boolean): string {
  if (key === undefined) return "is encrypted: DOWNLINK_BACKUP_KEY_FILE has to name the file with its key";
  return isEncrypted
    ? "is encrypted with another key than that in the file of DOWNLINK_BACKUP_KEY_FILE"
    : "has backups that are not encrypted: go on there without DOWNLINK_BACKUP_KEY_FILE, or take another place";
}
