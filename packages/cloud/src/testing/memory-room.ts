import { statfsSync } from "node:fs";

/** The folder of Linux whose files are in memory. */
export const IN_MEMORY = "/dev/shm";

/** Says whether a folder is there and has so many bytes free. */
export function hasRoom(neededBytes: number, folder = IN_MEMORY): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= neededBytes;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}
