import type { ListedObject } from "../blobs/blob-store.ts";
import { isIndexKey } from "../indexing/index-key.ts";

/** What the database says of a stored key. */
export interface Owners {
  /** A recording, an import request or an extension's version holds it. */
  readonly isHeld: boolean;
  /** The state of its upload; null where no upload was ever given the key. */
  readonly uploadState: string | null;
}

/**
 * - `keep` somebody holds it, or may yet
 * - `remove` nobody can come to hold it any more
 *   (a verified index that no row names can be made anew, so its age alone decides)
 * - `unknown` a whole object that no row ever named. Rows stand before bytes, so either a crash came between an extension's package and
 *   its row, or the database is older than the store: restored from a backup, or another deployment's. Then it was acknowledged.
 */
export type Verdict = { readonly kind: "keep" } | { readonly kind: "remove" | "unknown"; readonly reason: string };

/** Whether an object, or what is left of one, is a leftover. `cutoffMs`: what was written after it is nobody's business yet. */
export function judgeObject({ key, isWhole, modifiedAtMs }: ListedObject, owners: Owners, cutoffMs: number): Verdict {
  const { isHeld, uploadState } = owners;
  if (isHeld || uploadState === "open" || modifiedAtMs >= cutoffMs) return { kind: "keep" };
  if (uploadState === "stored") return { kind: "remove", reason: "its recording or import is gone" };
  if (uploadState !== null) return { kind: "remove", reason: "its upload was given up" };
  if (isIndexKey(key)) return { kind: "remove", reason: "it is the index of what is gone or has another one" };
  if (!isWhole) return { kind: "remove", reason: "its write broke off" };
  return { kind: "unknown", reason: "no row ever named it; was the database restored from a backup?" };
}
