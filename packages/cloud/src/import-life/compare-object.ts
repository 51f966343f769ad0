import { createHash } from "node:crypto";
import { abortable } from "../core/abortable.ts";
import { BlobDamagedError, BlobNotFoundError } from "../store/blobs/blob-errors.ts";
import type { BlobStore } from "../store/blobs/blob-store.ts";
import type { StoredDamage } from "./stored-damage.ts";

interface Expected {
  readonly key: string;
  readonly sizeBytes: bigint;
  /** In hexadecimal digits. */
  readonly sha256: string;
}

export interface ObjectFault {
  readonly damage: StoredDamage;
  /** A part of a sentence about the object. */
  readonly text: string;
}

/**
 * Reads a whole object, unless its size is wrong already, and returns what is wrong with it. Rejects if the store does not answer, which proves
 * nothing.
 */
export async function compareObject(
  blobs: Pick<BlobStore, "open">,
  { key, sizeBytes, sha256 }: Expected,
  signal?: AbortSignal,
): Promise<ObjectFault | undefined> {
  try {
    await using reader = await blobs.open(key);
    if (BigInt(reader.sizeBytes) !== sizeBytes)
      return { damage: "truncated", text: `it has ${reader.sizeBytes} bytes instead of ${sizeBytes}` };
    const hash = createHash("sha256");
    for await (const piece of signal ? abortable(reader.stream(), signal) : reader.stream()) hash.update(piece);
    const found = hash.digest("hex");
    return found === sha256 ? undefined : { damage: "altered", text: `its SHA-256 is ${found} instead of ${sha256}` };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof BlobNotFoundError) return { damage: "missing", text: "it is not in the store" };
    if (error instanceof BlobDamagedError || (error as NodeJS.ErrnoException).code === "EIO")
      return { damage: "altered", text: `it cannot be read: ${(error as Error).message}` };
    throw error;
  }
}
