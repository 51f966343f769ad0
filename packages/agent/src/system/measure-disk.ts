import { statfs } from "node:fs/promises";
import { isFileSystemError } from "./system-error.ts";

/** `freeBytes` is what an ordinary user may still write. */
export async function measureDisk(path: string): Promise<{ totalBytes: number; freeBytes: number } | undefined> {
  try {
    const { blocks, bavail, bsize } = await statfs(path);
    return { totalBytes: blocks * bsize, freeBytes: bavail * bsize };
  } catch (error) {
    if (isFileSystemError(error)) return undefined;
    throw error;
  }
}
