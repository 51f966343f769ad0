import { chmod, lstat, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Clock } from "../system/clock.ts";
import { isFileSystemError } from "../system/system-error.ts";

/** The name of the probe in the trash; no recording is called like this. */
export const PROBE_NAME = ".probe";

/** With a larger difference, the file system uses another clock, and its times cannot be compared with ours. */
const MAX_SKEW_NS = 1_000_000_000n;
/** They reach from the ticks of the kernel's clock to file systems that keep even seconds only: 2.2 s in all. */
const waitsMs = [20, 80, 400, 700, 1000];

/**
 * Returns whether a change that leaves size and mtime alone shows on the file system of a directory. To find out, it writes a file there
 * and changes the file's mode. False where nothing can be written.
 */
export async function probeChanges(directory: string, clock: Clock): Promise<boolean> {
  const path = join(directory, PROBE_NAME);
  try {
    await rm(path, { force: true }); // A crash may have left a probe that may not be written.
    await writeFile(path, "Whether a change of this file shows.\n", { mode: 0o600, flag: "wx" });
    const { ctimeNs } = await lstat(path, { bigint: true });
    return await showsChange(path, ctimeNs, clock);
  } catch (error) {
    if (!isFileSystemError(error)) throw error;
    return false;
  } finally {
    await rm(path, { force: true }).catch(ignoreFileSystem);
  }
}

async function showsChange(path: string, ctimeNs: bigint, clock: Clock): Promise<boolean> {
  for (const [index, waitMs] of waitsMs.entries()) {
    await setTimeout(waitMs);
    const beforeNs = clock.nowNs();
    await chmod(path, index % 2 === 0 ? 0o400 : 0o600);
    const changed = await lstat(path, { bigint: true });
    if (changed.ctimeNs === ctimeNs) continue;
    return changed.ctimeNs >= beforeNs - MAX_SKEW_NS && changed.ctimeNs <= clock.nowNs() + MAX_SKEW_NS;
  }
  return false;
}

function ignoreFileSystem(error: unknown): void {
  if (!isFileSystemError(error)) throw error;
}
