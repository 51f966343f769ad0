import { createHash } from "node:crypto";
import { createReadStream, type Dirent } from "node:fs";
import { readdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findTestObjects } from "./test-objects.ts";
import type { TestObject } from "./test-store.ts";

/**
 * Every whole object of the control plane with this data folder, past the control plane. An object never changes: those in
 * `known`, by their keys, are not read again.
 */
export async function readStoredObjects(dataDir: string, known = new Map<string, TestObject>()): Promise<TestObject[]> {
  const stored = await findTestObjects(dataDir);
  if (!stored) return readFiles(join(dataDir, "objects"), known);
  return (await stored.readObjects()).filter(({ key }) => key.startsWith("org_"));
}

/** Puts other bytes in the place of an object, as a damaged disk would. */
export async function overwriteObject(dataDir: string, key: string, bytes: Uint8Array): Promise<void> {
  const stored = await findTestObjects(dataDir);
  if (stored) return stored.writeObject(key, bytes);
  const shard = createHash("sha256").update(key).digest("hex").slice(0, 2);
  await writeFile(join(dataDir, "objects", shard, key.replaceAll("/", "+")), bytes);
}

/** Notes stand in a directory of their own. */
async function readFiles(directory: string, known: Map<string, TestObject>): Promise<TestObject[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const isObject = ({ parentPath, name }: Dirent) => dirname(parentPath) === directory && !name.includes(".");
  const files = entries.filter((entry) => entry.isFile() && isObject(entry));
  const objects: TestObject[] = [];
  for (const { parentPath, name } of files) {
    const key = name.replaceAll("+", "/");
    const object = known.get(key) ?? (await readFile(key, join(parentPath, name)));
    if (!object) continue;
    known.set(key, object);
    objects.push(object);
  }
  return objects;
}

/** Undefined where it was removed meanwhile. */
async function readFile(key: string, path: string): Promise<TestObject | undefined> {
  const hash = createHash("sha256");
  try {
    for await (const piece of createReadStream(path)) hash.update(piece as Buffer);
    return { key, sizeBytes: (await stat(path)).size, sha256: hash.digest("hex") };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
