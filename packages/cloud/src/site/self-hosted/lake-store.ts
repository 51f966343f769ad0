// A site makes a file for each topic of an import, and its index. It writes them in this order, so that a process that is killed leaves
// nothing that cannot be found again: a note with the import's id, the list of the files, the files. It removes them in the opposite order.

import { lakeFileKey, lakeIndexKey, lakeListKey } from "../../background/indexing/lake-key.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";

type Store = Pick<BlobStore, "put" | "open" | "stat" | "delete" | "putNote" | "getNote" | "listNotes" | "removeNote">;

/** Notes that the import may have files, and which. There must be none of it. */
export async function beginLake(store: Store, importId: string, topicHashes: readonly string[]): Promise<void> {
  await store.putNote(noteKey(importId), Buffer.from("\n"));
  await store.put(lakeListKey(importId), piecesOf(topicHashes));
}

/** Removes all that there is of the import. A repeat is harmless. */
export async function removeLake(store: Store, importId: string): Promise<void> {
  if ((await store.getNote(noteKey(importId))) === undefined) return;
  for (const topicHash of await readList(store, importId)) {
    await store.delete(lakeIndexKey({ importId, topicHash }));
    await store.delete(lakeFileKey({ importId, topicHash }));
  }
  await store.delete(lakeListKey(importId));
  await store.removeNote(noteKey(importId));
}

/** Lists the imports that may have files. */
export async function* listLakes(store: Pick<Store, "listNotes">): AsyncGenerator<string> {
  for await (const { key } of store.listNotes("lakes/")) yield key.split("/")[1]!;
}

async function readList(store: Store, importId: string): Promise<string[]> {
  if ((await store.stat(lakeListKey(importId))) === undefined) return [];
  await using list = await store.open(lakeListKey(importId));
  const text = Buffer.from(await list.read(0, list.sizeBytes)).toString();
  return text.split("\n").filter((line) => line !== "");
}

function noteKey(importId: string): string {
  return `lakes/${importId}`;
}

async function* piecesOf(lines: readonly string[]): AsyncGenerator<Uint8Array> {
  yield Buffer.from(lines.join("\n"));
}
