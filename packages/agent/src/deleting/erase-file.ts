import { lstat, rename, unlink } from "node:fs/promises";
import { durableWrites } from "../durable/durable-steps.ts";
import { checkUnmoved, openTracked, type Storage } from "../files/open-tracked.ts";
import { systemPath } from "../files/path-text.ts";
import { identityOf, isSameContentHolder } from "../inventory/identity.ts";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import { findTrash, makeTrash } from "./trash.ts";

export interface Erasure {
  readonly storage: Storage;
  readonly file: TrackedFile;
  /** Leaves a file whose content has another name where it is, because deleting this name would free nothing. */
  readonly needsOnlyName: boolean;
  /** Whether the file may still be deleted; it is asked right before each step that matters. */
  readonly isAllowed: () => boolean;
}

export interface Erased {
  /** With `linked` the content has another name. With `stopped` the deletion is not allowed any more, or another file is in the trash. */
  readonly outcome: "deleted" | "linked" | "stopped";
  /** The trash through which the file went. It has to be synced before the deletion is recorded. */
  readonly trash: string;
}

/**
 * Deletes exactly this version: moves it into the trash, checks it there again, and deletes it for good, because at its path another file
 * may take its place. Unless the outcome is `deleted`, the file is at its path or in the trash, and `settleIntents` puts it back. Throws
 * `FileMovedError` for another version, and the errors of the file system.
 */
export async function eraseFile({ storage, file, needsOnlyName, isAllowed }: Erasure): Promise<Erased> {
  const { path, identity } = file;
  const absolute = systemPath(storage.root, path);
  await using source = await openTracked(storage, path, identity);
  const { nlink } = await lstat(absolute, { bigint: true });
  const { directory: trash, entry } = await findTrash(storage.root, file);
  if (nlink > 1n && needsOnlyName) return { outcome: "linked", trash };
  await makeTrash(trash);
  await checkUnmoved(storage, { source, path, identity }); // The rename would hide any change before it.
  if (!isAllowed()) return { outcome: "stopped", trash };
  await durableWrites.tracePromise(() => rename(absolute, entry), { what: "file", path: entry });
  const trashed = await lstat(entry, { bigint: true });
  const isMeant = isSameContentHolder(identityOf(trashed, storage.device), identity) && trashed.nlink === nlink;
  if (!isMeant || !isAllowed()) return { outcome: "stopped", trash };
  const { ctimeNs, mtimeNs } = await lstat(entry, { bigint: true });
  if (ctimeNs !== trashed.ctimeNs || mtimeNs !== trashed.mtimeNs) return { outcome: "stopped", trash };
  await durableWrites.tracePromise(() => unlink(entry), { what: "file", path: entry });
  return { outcome: "deleted", trash };
}
