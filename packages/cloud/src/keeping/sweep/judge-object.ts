import { isIndexKey } from "../../background/indexing/index-key.ts";
import type { ListedObject } from "../../store/blobs/blob-store.ts";
import { isThumbnailKey, isTrainingKey, isViewKey } from "../../store/blobs/object-key.ts";

/** The facts of the database about a stored key. */
export interface Owners {
  /** A recording, an import request or an extension's version holds it; or a job will remove it later. */
  readonly isHeld: boolean;
  /** The state of its upload; null if no upload ever had the key. */
  readonly uploadState: string | null;
}

/**
 * - `keep` something holds it, or may still hold it
 * - `remove` nothing can hold it any more
 * (a verified index, thumbnails, a file for viewers or of a training set that no row names can be made again, so its age alone decides)
 * - `unknown` a whole object that no row ever named. Rows exist before bytes, so either a crash came between an extension's package and
 * its row, or the database is older than the store: restored from a backup, or another deployment's. Then it was acknowledged.
 */
export type Verdict = { readonly kind: "keep" } | { readonly kind: "remove" | "unknown"; readonly reason: string };

/** Says whether an object, or the remains of one, is left over. Objects that were written after `cutoffMs` are too young to be judged. */
export function judgeObject({ key, isWhole, modifiedAtMs }: ListedObject, owners: Owners, cutoffMs: number): Verdict {
  const { isHeld, uploadState } = owners;
  if (isHeld || uploadState === "open" || modifiedAtMs >= cutoffMs) return { kind: "keep" };
  if (uploadState === "stored") return { kind: "remove", reason: "its recording or import is gone" };
  if (uploadState !== null) return { kind: "remove", reason: "its upload was given up" };
  if (isIndexKey(key)) return { kind: "remove", reason: "it is the index of what is gone or has another one" };
  if (isViewKey(key)) return { kind: "remove", reason: "it is the file of a view link that has ended" };
  if (isTrainingKey(key)) return { kind: "remove", reason: "it is a file of a training set that is gone" };
  if (isThumbnailKey(key)) return { kind: "remove", reason: "it has the thumbnails of a recording that is gone" };
  if (!isWhole) return { kind: "remove", reason: "its write broke off" };
  return { kind: "unknown", reason: "no row ever named it; was the database restored from a backup?" };
}
