import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hasRoom, IN_MEMORY } from "../packages/cloud/src/testing/memory-room.ts";

const NAME = /^downlink-tests-(\d+)-/;
/** What the quick tests have in their folders at the same moment is a fraction of this. */
const NEEDED_BYTES = 4 * 1024 ** 3;

/**
 * Makes a folder in memory for the temporary files of a run: to make the 256 folders of an object store takes a tenth of what it takes on a
 * disk, and every control plane of a test has one. Returns undefined where there is no room for it, or programs may not be run from it.
 * Disposing removes it; that of a run that was killed is removed by the next one of the same user.
 */
export function openMemoryFolder({
  parent = IN_MEMORY,
  neededBytes = NEEDED_BYTES,
} = {}): (Disposable & { readonly path: string }) | undefined {
  if (!hasRoom(neededBytes, parent)) return undefined;
  removeLeft(parent);
  const path = mkdtempSync(join(parent, `downlink-tests-${process.pid}-`));
  chmodSync(path, 0o1777); // as that of the system: some tests run programs of other users
  if (canRun(path)) return { path, [Symbol.dispose]: () => remove(path) };
  remove(path);
  return undefined;
}

/** A process that a test has killed may still write for a moment. */
function remove(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 5 });
}

function canRun(folder: string): boolean {
  const program = join(folder, "program");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
  return spawnSync(program).status === 0;
}

/** Removes the folders of this user's runs whose processes have gone; one with the number of this process is of a former one. */
function removeLeft(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = NAME.exec(name)?.[1];
    const path = join(parent, name);
    if (pid === undefined || statSync(path, { throwIfNoEntry: false })?.uid !== process.getuid?.()) continue;
    if (Number(pid) === process.pid || !isAlive(Number(pid))) remove(path);
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
