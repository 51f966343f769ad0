// A note is the file `notes/<kind>/<shard>/<names joined by +>`. It gets its name by a hard link, as objects do, because a link never
// replaces a file. A temporary file that a crash left is removed when notes of its kind are listed a day later.

import { createHash, randomBytes } from "node:crypto";
import { open, readdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isSystemError, makeDurableDirectory, publishFile, syncDirectory } from "./durable-file.ts";
import { isShard } from "./file-layout.ts";
import { findFile } from "./key-files.ts";
import { checkNote, checkNotePrefix, type ListedNote, NoteExistsError } from "./notes.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const TEMPORARY = ".temporary";

/** Implements NoteStore.putNote. */
export async function putNote(root: string, key: string, bytes: Uint8Array): Promise<void> {
  checkNote(key, bytes);
  const path = fileOfNote(root, key);
  if (await holdsSame(root, key, bytes)) return;
  await makeDurableDirectory(dirname(path));
  const temporary = `${path}.${randomBytes(8).toString("hex")}${TEMPORARY}`;
  await using leftovers = new AsyncDisposableStack();
  await using file = await open(temporary, "wx", 0o600);
  leftovers.defer(() => rm(temporary, { force: true }));
  await file.writeFile(bytes);
  await file.sync();
  try {
    await publishFile(temporary, path);
  } catch (error) {
    if (!isSystemError(error, "EEXIST")) throw error;
    await holdsSame(root, key, bytes);
  }
}

/** Throws a {@link NoteExistsError} if the note has other bytes. */
async function holdsSame(root: string, key: string, bytes: Uint8Array): Promise<boolean> {
  const found = await getNote(root, key);
  if (found && !found.equals(bytes)) throw new NoteExistsError(key);
  return found !== undefined;
}

/** Implements NoteStore.getNote. The process that gave the note its name may have died before the directory was synced. */
export async function getNote(root: string, key: string): Promise<Buffer | undefined> {
  checkNote(key);
  const path = fileOfNote(root, key);
  try {
    const bytes = await readFile(path);
    const found = await findFile(path);
    if (found && found.nlink > 1) await syncDirectory(dirname(path));
    return bytes;
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** Implements NoteStore.listNotes, one directory at a time. */
export async function* listNotes(root: string, prefix: string): AsyncGenerator<ListedNote, void> {
  checkNotePrefix(prefix);
  const slash = prefix.indexOf("/");
  const [kind, start] = [prefix.slice(0, slash), prefix.slice(slash + 1).replaceAll("/", "+")];
  const directory = join(root, "notes", kind);
  for (const shard of (await listDirectory(directory)).filter(isShard))
    for await (const { name, modifiedAtMs } of listShard(join(directory, shard), start))
      yield { key: `${kind}/${name.replaceAll("+", "/")}`, modifiedAtMs };
}

async function* listShard(directory: string, start: string) {
  for (const name of await listDirectory(directory)) {
    const isTemporary = name.endsWith(TEMPORARY);
    if (!isTemporary && !name.startsWith(start)) continue;
    const modifiedAtMs = (await findFile(join(directory, name)))?.mtimeMs;
    if (modifiedAtMs === undefined) continue; // removed meanwhile
    if (!isTemporary) yield { name, modifiedAtMs };
    else if (modifiedAtMs < Date.now() - DAY_MS) await rm(join(directory, name), { force: true });
  }
}

/** Implements NoteStore.removeNote. */
export async function removeNote(root: string, key: string): Promise<void> {
  checkNote(key);
  const path = fileOfNote(root, key);
  if (!(await findFile(path))) return;
  await rm(path, { force: true });
  await syncDirectory(dirname(path));
}

function fileOfNote(root: string, key: string): string {
  const [kind, ...names] = key.split("/") as [string, ...string[]];
  const shard = createHash("sha256").update(key).digest("hex").slice(0, 2);
  return join(root, "notes", kind, shard, names.join("+"));
}

/** Returns an empty list if there is no such directory. */
async function listDirectory(path: string): Promise<string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return [];
    throw error;
  }
}
