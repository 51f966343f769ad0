// An encrypted file of a backup, by AES-256-GCM as the STREAM construction of Hoang, Reyhanitabar, Rogaway and Vizár uses it
// (https://eprint.iacr.org/2015/189), with the nonces of age (https://age-encryption.org/v1):
//
// - 9 bytes are `DLBACKUP` and the version, 1.
// - 8 bytes name the operator's key: HKDF-SHA-256 of it, with the info `downlink backup key`.
// - 32 random bytes are the salt of this file.
// - Chunks of 64 KiB follow, each encrypted and then its tag of 16 bytes. The last chunk may be shorter; that of an empty file is empty.
//
// The key of the file is HKDF-SHA-256 of the operator's key, with the salt and the info `downlink backup file ` and the name of the file in
// its place. The nonce of a chunk is its number, from 0 on, in 11 bytes (big-endian), and a byte that is 1 for the last chunk and 0 for others.
// So no chunk can be read in another place or in another file, no file by another name, and none that was cut or has something added.

import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject, randomBytes } from "node:crypto";
import { DamagedBackupError } from "./backup-errors.ts";

const CIPHER = "aes-256-gcm";
const MAGIC = Buffer.from("DLBACKUP\x01");
const ID_BYTES = 8;
const SALT_BYTES = 32;
const HEADER_BYTES = MAGIC.byteLength + ID_BYTES + SALT_BYTES;
const CHUNK_BYTES = 64 * 1024;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const NONCE_BYTES = 12;

/** The operator's key. */
export interface BackupKey {
  readonly secret: KeyObject;
  /** Names the key without revealing it. */
  readonly id: Buffer;
}

/** Makes a key of 32 bytes. Returns undefined for any other length. */
export function toKey(bytes: Uint8Array): BackupKey | undefined {
  if (bytes.byteLength !== KEY_BYTES) return undefined;
  const secret = createSecretKey(bytes);
  return { secret, id: Buffer.from(hkdfSync("sha256", secret, "", "downlink backup key", ID_BYTES)) };
}

interface File {
  readonly key: BackupKey;
  /** The name of the file in its place. */
  readonly name: string;
}

/** Yields the encrypted file, with one chunk in memory at a time. */
export async function* encrypt(body: AsyncIterable<Uint8Array>, file: File): AsyncGenerator<Uint8Array, void> {
  const salt = randomBytes(SALT_BYTES);
  yield Buffer.concat([MAGIC, file.key.id, salt]);
  const fileKey = deriveKey(file, salt);
  let number = 0;
  for await (const { bytes, isLast } of regroup(body, { first: CHUNK_BYTES, others: CHUNK_BYTES })) {
    const cipher = createCipheriv(CIPHER, fileKey, nonceOf(number, isLast), { authTagLength: TAG_BYTES });
    yield Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
    number += 1;
  }
}

/** Yields what was encrypted. Throws a {@link DamagedBackupError} before the first byte of a chunk that is not what was written. */
export async function* decrypt(body: AsyncIterable<Uint8Array>, file: File): AsyncGenerator<Uint8Array, void> {
  let fileKey: Buffer | undefined;
  let number = 0;
  for await (const { bytes, isLast } of regroup(body, { first: HEADER_BYTES, others: CHUNK_BYTES + TAG_BYTES })) {
    if (fileKey === undefined) {
      requireHeader(bytes, file);
      if (isLast) throw notWhatWasWritten(file);
      fileKey = deriveKey(file, bytes.subarray(-SALT_BYTES));
    } else {
      yield decryptChunk(bytes, { file, fileKey, nonce: nonceOf(number, isLast) });
      number += 1;
    }
  }
}

/** Returns the size of a file before it was encrypted; undefined if no encrypted file has this size. */
export function plainSizeOf(encryptedBytes: number): number | undefined {
  const chunksBytes = encryptedBytes - HEADER_BYTES;
  const count = Math.ceil(chunksBytes / (CHUNK_BYTES + TAG_BYTES));
  const lastBytes = chunksBytes - (count - 1) * (CHUNK_BYTES + TAG_BYTES);
  return count < 1 || lastBytes < TAG_BYTES ? undefined : chunksBytes - count * TAG_BYTES;
}

/** Reads by the beginning of a file whether it is encrypted, and by which key. */
export async function readSeal(
  body: AsyncIterable<Uint8Array>,
  key: BackupKey | undefined,
): Promise<"none" | "thisKey" | "otherKey"> {
  for await (const { bytes } of regroup(body, { first: HEADER_BYTES, others: HEADER_BYTES })) {
    if (!bytes.subarray(0, MAGIC.byteLength).equals(MAGIC)) return "none";
    return key && idIn(bytes).equals(key.id) ? "thisKey" : "otherKey";
  }
  return "none";
}

function idIn(header: Buffer): Buffer {
  return header.subarray(MAGIC.byteLength, MAGIC.byteLength + ID_BYTES);
}

function requireHeader(header: Buffer, file: File): void {
  if (header.byteLength < HEADER_BYTES || !header.subarray(0, MAGIC.byteLength).equals(MAGIC))
    throw new DamagedBackupError(`${file.name} is not encrypted, or was cut`);
  if (!idIn(header).equals(file.key.id)) throw new DamagedBackupError(`${file.name} is encrypted with another key`);
}

interface Opening {
  readonly file: File;
  readonly fileKey: Buffer;
  readonly nonce: Buffer;
}

function decryptChunk(bytes: Buffer, { file, fileKey, nonce }: Opening): Buffer {
  if (bytes.byteLength < TAG_BYTES) throw notWhatWasWritten(file);
  const decipher = createDecipheriv(CIPHER, fileKey, nonce, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  const plain = decipher.update(bytes.subarray(0, -TAG_BYTES));
  try {
    decipher.final();
  } catch {
    throw notWhatWasWritten(file); // the tag is wrong, which is all that this can fail for
  }
  return plain;
}

function notWhatWasWritten({ name }: File): DamagedBackupError {
  return new DamagedBackupError(`${name} is not what was written: it was altered, cut or exchanged`);
}

function deriveKey({ key, name }: File, salt: Uint8Array): Buffer {
  return Buffer.from(hkdfSync("sha256", key.secret, salt, `downlink backup file ${name}`, KEY_BYTES));
}

function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeBigUInt64BE(BigInt(number), NONCE_BYTES - 1 - 8);
  nonce[NONCE_BYTES - 1] = isLast ? 1 : 0;
  return nonce;
}

/** Yields pieces of these sizes, of which the last one may be shorter. The memory of a piece is used again for the next one. */
async function* regroup(
  body: AsyncIterable<Uint8Array>,
  { first, others }: { first: number; others: number },
): AsyncGenerator<{ readonly bytes: Buffer; readonly isLast: boolean }, void> {
  const held = Buffer.allocUnsafe(Math.max(first, others));
  let [filled, wanted] = [0, first];
  for await (const piece of body)
    for (let at = 0; at < piece.byteLength; ) {
      if (filled === wanted) {
        yield { bytes: held.subarray(0, filled), isLast: false };
        [filled, wanted] = [0, others];
      }
      const taken = piece.subarray(at, at + wanted - filled);
      held.set(taken, filled);
      filled += taken.byteLength;
      at += taken.byteLength;
    }
  yield { bytes: held.subarray(0, filled), isLast: true };
}
