import { mkdir, mkdtemp, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CommandError } from "./command-error.ts";

/** Reasons of the system, in the words of an operator. */
const reasons: Readonly<Record<string, string>> = {
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EROFS: "its file system is read-only",
  EEXIST: "a file is in its place",
  ENOTDIR: "a part of this path is a file",
  ENOENT: "the system lets no program make a folder there",
  ENAMETOOLONG: "the name is too long",
  ELOOP: "its links lead to themselves",
};
/** A service with a full disk still serves what only reads, and says in `/readyz` that the disk is full. */
const FULL = new Set(["ENOSPC", "EDQUOT"]);

/** Makes the folder if it is absent. Throws a {@link CommandError} that names folder and setting if nothing can be written there. */
export async function requireFolder(folder: string, setting: string): Promise<void> {
  try {
    await makeFolder(folder);
    await rmdir(await mkdtemp(join(folder, ".writable-")));
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "") throw error;
    if (FULL.has(code)) return;
    const reason = reasons[code] ?? "the system refuses it";
    throw new CommandError(`cannot write in the folder ${folder}: ${reason} (${code}); set ${setting} to another one`);
  }
}

/** Node's own `recursive` never ends where a folder cannot be made although the one above it exists, as below /proc. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && (await stat(folder)).isDirectory()) return;
    if (code !== "ENOENT" || (await isThere(dirname(folder)))) throw error;
    await makeFolder(dirname(folder));
    await makeFolder(folder);
  }
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
