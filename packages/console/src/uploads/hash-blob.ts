import { sha256 } from "@noble/hashes/sha2.js";

/** How many bytes are in memory at once. */
const PIECE_BYTES = 2 * 1024 * 1024;

/**
 * Returns the SHA-256 of a blob, which is read piece by piece. `crypto.subtle` takes all bytes at once, and browsers have it on pages of https
 * only. Throws what reading throws, as for a file that was changed since it was chosen.
 */
export async function hashBlob(blob: Blob, onHashed: (bytes: number) => void = () => undefined): Promise<Uint8Array> {
  const hash = sha256.create();
  for (let at = 0; at < blob.size; at += PIECE_BYTES) {
    const piece = await blob.slice(at, at + PIECE_BYTES).arrayBuffer();
    hash.update(new Uint8Array(piece));
    onHashed(Math.min(at + PIECE_BYTES, blob.size));
  }
  return hash.digest();
}
