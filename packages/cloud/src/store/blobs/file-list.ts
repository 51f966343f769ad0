import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { ListedObject } from "./blob-store.ts";
import { isShard, readFileName } from "./file-layout.ts";
import { findFile } from "./key-files.ts";

const STAT_BLOCK_BYTES = 512;

/** Implements BlobStore.list. It reads one directory at a time, so that a million objects are never in memory at once. */
export async function* listFiles(root: string, prefix: string): AsyncGenerator<ListedObject, void> {
  for (const shard of (await readdir(root)).filter(isShard)) {
    const directory = join(root, shard);
    for (const [key, names] of groupByKey(await readdir(directory), prefix)) {
      const listed = await describeKey(directory, { key, names });
      if (listed) yield listed;
    }
  }
}

function groupByKey(names: readonly string[], prefix: string): Map<string, string[]> {
  const keyed = names.map((name) => ({ name, key: readFileName(name)?.key }));
  const wanted = keyed.filter((file): file is { name: string; key: string } => file.key?.startsWith(prefix) ?? false);
  const groups = Map.groupBy(wanted, ({ key }) => key);
  return new Map([...groups].map(([key, files]) => [key, files.map(({ name }) => name)]));
}

/** Returns undefined if the key was removed meanwhile. The youngest of its files counts, so that nothing in use looks old. */
async function describeKey(directory: string, { key, names }: { key: string; names: string[] }) {
  const found = await Promise.all(names.map((name) => findFile(join(directory, name))));
  const files = found.filter((stats) => stats !== undefined);
  if (files.length === 0) return undefined;
  const object = found[names.findIndex((name) => readFileName(name)?.isObject)];
  const heldBytes = files.reduce((sum, { blocks }) => sum + blocks * STAT_BLOCK_BYTES, 0);
  return {
    key,
    isWhole: object !== undefined,
    sizeBytes: object?.size ?? heldBytes,
    modifiedAtMs: Math.max(...files.map(({ mtimeMs }) => mtimeMs)),
  };
}
