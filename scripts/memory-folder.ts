import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const IN_MEMORY = "/dev/shm";
const NAME = /^downlink-tests-(\d+)$/;
/** What the quick tests have in their folders at the same moment is a fraction of this. */
const NEEDED_BYTES = 4 * 1024 ** 3;

/**
 * Makes a folder in memory for the temporary files of a run: to make the 256 folders of an object store takes a tenth of what it takes on a
 * disk, and every control plane of a test has one. Returns undefined where there is no room for it, or programs may not be run from it. Disposing
 * removes it; that of a run that was killed is removed by the next one.
 */
export function openMemoryFolder(parent = IN_MEMORY): (Disposable & { readonly path: string }) | undefined {
  if (!hasRoom(parent)) return undefined;
  removeLeft(parent);
  const path = join(parent, `downlink-tests-${process.pid}`);
  const remove = () => rmSync(path, { recursive: true, force: true });
  mkdirSync(path);
  chmodSync(path, 0o1777); // as that of the system: some tests run programs of other users
  if (!canRun(path)) {
    remove();
    return undefined;
  }
  return { path, [Symbol.dispose]: remove };
}

function hasRoom(parent: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(parent);
    return bavail * bsize >= NEEDED_BYTES;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

function canRun(folder: string): boolean {
  const program = join(folder, "program");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
  return spawnSync(program).status === 0;
}

/** Removes the folders of runs whose processes have gone. */
function removeLeft(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = Number(NAME.exec(name)?.[1] ?? process.pid);
    if (pid !== process.pid && !isAlive(pid)) rmSync(join(parent, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
