import { createHash } from "node:crypto";

// The names of what a self-hosted site makes of an import, one file for each topic. They are never used for anything else, because they name
// the import.

/** The file of one topic. */
export function lakeFileKey({ importId, topicHash }: LakeFileName): string {
  return `lake/${importId}/${topicHash}.mcap`;
}

/** The verified index of such a file. */
export function lakeIndexKey({ importId, topicHash }: LakeFileName): string {
  return `lake/${importId}/${topicHash}-index`;
}

/** The list of the files, which is written before the first of them. */
export function lakeListKey(importId: string): string {
  return `lake/${importId}/files`;
}

interface LakeFileName {
  readonly importId: string;
  readonly topicHash: string;
}

/** A topic may be long and have any character, so its hash stands in names. */
export function topicHashOf(topic: string): string {
  return createHash("sha256").update(topic).digest("hex").slice(0, 40);
}
