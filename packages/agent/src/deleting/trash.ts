import type { BigIntStats } from "node:fs";
import { link, lstat, mkdir, open, readdir, rename, unlink } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { durableWrites } from "../durable/durable-steps.ts";
import { systemPath } from "../files/path-text.ts";
import { TRASH_NAME } from "../files/scan.ts";
import { isFileSystemError } from "../system/system-error.ts";

const MAX_NAME_BYTES = 255;

export interface TrashedFile {
  /** The absolute path of the file in the trash. */
  readonly entry: string;
  /** The absolute path of the trash. */
  readonly directory: string;
}

/** Finds the place of the file in the trash of its file system. */
export async function findTrash(root: string, file: { path: string; versionId: string }): Promise<TrashedFile> {
  const directory = join(await findMountPoint(root, file.path), TRASH_NAME);
  return { directory, entry: join(directory, nameInTrash(file)) };
}

/** Finds the topmost directory at or below the root that is on the file system of the file's own directory. */
async function findMountPoint(root: string, path: string): Promise<string> {
  let at = parentOf(path);
  const { dev } = await lstat(systemPath(root, at));
  while (at !== "" && (await lstat(systemPath(root, parentOf(at)))).dev === dev) at = parentOf(at);
  return join(root, at);
}

/** The parent of an entry of the root is the root, `""`. */
function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** The name in the trash contains the file's own name, so that it can be put back even when the state is lost. */
function nameInTrash({ path, versionId }: { path: string; versionId: string }): string {
  const name = `${versionId}.${basename(path)}`;
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  return `${versionId}.recording${extname(path)}`;
}

/** Makes the trash where it is missing. Throws when something else stands in its place. */
export async function makeTrash(directory: string): Promise<void> {
  try {
    await mkdir(directory, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    if (!(await lstat(directory)).isDirectory())
      throw Object.assign(new Error(`${directory} is not a directory`), { code: "ENOTDIR", errno: 20 });
  }
}

export async function statIfThere(path: string | Buffer): Promise<BigIntStats | undefined> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Lists the files that were left in the trash. */
export async function listTrash(directory: string): Promise<string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => join(directory, name));
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return [];
    throw error;
  }
}

/** Returns the name of the file before it came into the trash. */
export function originalName(entry: string): string {
  return basename(entry).replace(/^[\w-]+\./, "");
}

/** Puts a file back to its path, or beside whatever is in its place by now. Returns the path where it is. */
export async function restore(entry: string, root: string, path: string): Promise<string> {
  await mkdir(systemPath(root, parentOf(path)), { recursive: true });
  const extension = extname(path);
  const stem = path.slice(0, path.length - extension.length);
  for (let count = 0; ; count++) {
    const free = count === 0 ? path : `${stem}.restored-${count}${extension}`;
    if (await moveWithoutReplacing(entry, systemPath(root, free))) return free;
  }
}

/** Returns false when something is there already. A hard link never replaces a file; where the file system has none, an empty file reserves the name. */
async function moveWithoutReplacing(from: string, to: string | Buffer): Promise<boolean> {
  try {
    await link(from, to);
    await durableWrites.tracePromise(() => unlink(from), { what: "file", path: from });
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return await finishMove(from, to);
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"].includes(codeOf(error) ?? "")) throw error;
  }
  try {
    await (await open(to, "wx")).close();
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
  await durableWrites.tracePromise(() => rename(from, to), { what: "file", path: String(to) });
  return true;
}

/** Finishes a move that a crash interrupted between its two steps. */
async function finishMove(from: string, to: string | Buffer): Promise<boolean> {
  const [there, here] = await Promise.all([statIfThere(from), statIfThere(to)]);
  if (!there || there.ino !== here?.ino || there.dev !== here.dev) return false;
  await unlink(from);
  return true;
}

function codeOf(error: unknown): string | undefined {
  return isFileSystemError(error) ? error.code : undefined;
}
