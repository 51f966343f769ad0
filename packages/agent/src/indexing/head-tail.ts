import { createHash } from "node:crypto";
import type { RandomAccessSource } from "@downlink/recordings";

const EDGE_BYTES = 64 * 1024;

/** The SHA-256 of the first and the last 64 KiB (of all bytes, where these overlap). It recognizes a file, and proves nothing. */
export async function hashHeadAndTail(source: RandomAccessSource): Promise<string> {
  const headBytes = Math.min(EDGE_BYTES, source.sizeBytes);
  const tailBytes = Math.min(EDGE_BYTES, source.sizeBytes - headBytes);
  const hash = createHash("sha256").update(await source.read(0, headBytes));
  return hash.update(await source.read(source.sizeBytes - tailBytes, tailBytes)).digest("hex");
}
