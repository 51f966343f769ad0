import { lstat, realpath } from "node:fs/promises";
import { FileSource } from "@downlink/recordings";
import { type FileIdentity, identityOf, identityOfStat, isSameIdentity } from "../inventory/identity.ts";

import { systemPath } from "./path-text.ts";

/** Where the files are at the moment. */
export interface Storage {
  readonly root: string;
  /** `st_dev` of the root. */
  readonly device: bigint;
}

/** The file is not the known version any more. */
export class FileMovedError extends Error {
  readonly is: "changed" | "missing" | "outside";

  constructor(path: string, is: FileMovedError["is"]) {
    super(`${path} is ${is}`);
    this.name = "FileMovedError";
    this.is = is;
  }
}

/** Opens the very version of a file that `identity` names. Throws {@link FileMovedError}, or the error of the file system. */
export async function openTracked(storage: Storage, path: string, identity: FileIdentity): Promise<FileSource> {
  const absolute = systemPath(storage.root, path);
  try {
    // A directory on the way may have been replaced by a symlink that leads out of the root.
    if (!(await isInside(storage, path))) throw new FileMovedError(path, "outside");
    const source = await FileSource.open(absolute);
    if (isSameIdentity(identityOfStat(source.stat, storage.device), identity)) return source;
    await source[Symbol.asyncDispose]();
    throw new FileMovedError(path, "changed");
  } catch (error) {
    throw isMissing(error) ? new FileMovedError(path, "missing") : error;
  }
}

/** Throws {@link FileMovedError} unless the open file and the path still are the version that `identity` names. */
export async function checkUnmoved(
  storage: Storage,
  { source, path, identity }: { source: FileSource; path: string; identity: FileIdentity },
): Promise<void> {
  const isOpenSame = isSameIdentity(identityOfStat(await source.restat(), storage.device), identity);
  const there = await lookAt(storage, path);
  if (!there) throw new FileMovedError(path, "missing");
  if (!isOpenSame || !isSameIdentity(there, identity)) throw new FileMovedError(path, "changed");
}

/** Returns the identity of what is at the path now; undefined when nothing is. */
export async function lookAt(storage: Storage, path: string): Promise<FileIdentity | undefined> {
  try {
    return identityOf(await lstat(systemPath(storage.root, path), { bigint: true }), storage.device);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Returns whether no part of the path is a symlink. */
export async function isInside({ root }: Storage, path: string): Promise<boolean> {
  const there = await realpath(systemPath(root, path), { encoding: "buffer" });
  return there.equals(Buffer.from(systemPath(await realpath(root), path)));
}

export function isMissing(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP";
}
