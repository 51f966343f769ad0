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
  /** Content that has another name is left where it is: deleting this one would free nothing. */
  readonly needsOnlyName: boolean;
  /** Whether it may still be deleted; asked right before each step that matters. */
  readonly isAllowed: () => boolean;
}

export interface Erased {
  /** `linked`: it has another name · `stopped`: it is not allowed any more, or what is in the trash now is not what was meant. */
  readonly outcome: "deleted" | "linked" | "stopped";
  /** The directory it went through: to be synced before the deletion is recorded. */
  readonly trash: string;
}

/**
 * Deletes the very version that was meant: out of sight first, looked at again where nobody replaces it, then for good. Unless
 * the outcome is `deleted`, the file is at its path or in the trash: `settleIntent` puts it back. Throws `FileMoved` when
 * another version is at the path, and the errors of the file system.
 */
export async function eraseFile({ storage, file, needsOnlyName, isAllowed }: Erasure): Promise<Erased> {
  const { path, identity } = file;
  const absolute = systemPath(storage.root, path);
  await using source = await openTracked(storage, path, identity);
  const { nlink } = await lstat(absolute, { bigint: true });
  const { directory: trash, entry } = await findTrash(storage.root, file);
  if (nlink > 1n && needsOnlyName) return { outcome: "linked", trash };
  await makeTrash(trash);
  await checkUnmoved(storage, { source, path, identity }); // The rename hides whatever came before it.
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
