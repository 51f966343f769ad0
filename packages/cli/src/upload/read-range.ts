import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { RefusedError } from "../failures/failures.ts";

const READ_BYTES = 256 * 1024;

/** Bytes of a file. */
export interface Range {
  readonly start: number;
  readonly length: number;
}

interface Hashing {
  readonly algorithm: "md5" | "sha256";
  readonly encoding: "hex" | "base64";
  readonly signal: AbortSignal;
}

/** Throws {@link RefusedError} if the file has become shorter. */
export async function hashRange(
  file: FileHandle,
  range: Range,
  { algorithm, encoding, signal }: Hashing,
): Promise<string> {
  const hash = createHash(algorithm);
  for await (const bytes of readRange(file, range)) {
    signal.throwIfAborted();
    hash.update(bytes);
  }
  return hash.digest(encoding);
}

/** Throws {@link RefusedError} if the file has become shorter. */
export async function* readRange(file: FileHandle, { start, length }: Range): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < length; ) {
    const wanted = Math.min(READ_BYTES, length - at);
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(wanted), 0, wanted, start + at);
    if (bytesRead === 0) throw new RefusedError("the file became shorter while it was sent");
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}
