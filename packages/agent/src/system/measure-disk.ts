import { statfs } from "node:fs/promises";
import { isFileSystemError } from "./system-error.ts";

export interface MeasuredDisk {
  readonly totalBytes: number;
  /** The bytes that an ordinary user may still write. */
  readonly freeBytes: number;
  /** The blocks in use, as `df` counts them: with what is free this is less than all, where blocks are reserved for root. */
  readonly usedBytes: number;
}

export async function measureDisk(path: string): Promise<MeasuredDisk | undefined> {
  try {
    const { blocks, bavail, bfree, bsize } = await statfs(path);
    return { totalBytes: blocks * bsize, freeBytes: bavail * bsize, usedBytes: (blocks - bfree) * bsize };
  } catch (error) {
    if (isFileSystemError(error)) return undefined;
    throw error;
  }
}
