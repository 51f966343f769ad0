import { createHash } from "node:crypto";
import type { FileIdentity } from "../inventory/identity.ts";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import { pause } from "../loops/wake-signal.ts";
import type { Clock } from "../system/clock.ts";
import { checkUnmoved, openTracked, type Storage } from "./open-tracked.ts";

const BLOCK_BYTES = 1024 * 1024;
/** At most one part in so many of the time is spent reading. */
const READ_SHARE = 4;
/** File systems and the kernel's clock may round ctime by this much. */
const GRANULARITY_NS = 2_000_000_000n;

export interface FileHash {
  readonly sha256: string;
  /** The wall time before the first byte was read. */
  readonly begunNs: bigint;
}

interface HashOptions {
  readonly clock: Clock;
  readonly storage: Storage;
  readonly signal: AbortSignal;
}

/**
 * Hashes the whole file with long pauses, because the result is not urgent. Throws `FileMovedError` for another version, what reading
 * throws, and the signal's reason.
 */
export async function hashFile(
  { path, identity }: Pick<TrackedFile, "path" | "identity">,
  { clock, storage, signal }: HashOptions,
): Promise<FileHash> {
  const begunNs = clock.nowNs();
  await using source = await openTracked(storage, path, identity);
  const hash = createHash("sha256");
  const memory = Buffer.allocUnsafeSlow(Math.min(BLOCK_BYTES, identity.sizeBytes));
  for (let offset = 0; offset < identity.sizeBytes; offset += BLOCK_BYTES) {
    const startMs = clock.monotonicMs();
    const block = memory.subarray(0, identity.sizeBytes - offset);
    await source.readInto(block, offset);
    hash.update(block);
    await pause((clock.monotonicMs() - startMs) * (READ_SHARE - 1), signal);
    signal.throwIfAborted();
  }
  await checkUnmoved(storage, { source, path, identity });
  return { sha256: hash.digest("hex"), begunNs };
}

/**
 * Returns whether bytes that were read from the wall time `readFromNs` on are the file's content for as long as it keeps this identity.
 * They are not where the last change is too young: another change in the same tick of the clock would not show.
 */
export function isProof({ ctimeNs }: FileIdentity, readFromNs: bigint): boolean {
  return ctimeNs + GRANULARITY_NS <= readFromNs;
}
