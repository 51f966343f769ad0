import { checkNote, checkNotePrefix, type ListedNote, NoteExistsError } from "../notes.ts";
import type { BucketObjects } from "./bucket-client.ts";

/** The notes are below this prefix: `_downlink/<kind>/<name>`. */
export const NOTES = "_downlink/";

/** Implements NoteStore.putNote. The note that is under the key afterwards shows whether a call whose answer was lost was executed. */
export async function putNote(objects: BucketObjects, key: string, bytes: Uint8Array): Promise<void> {
  checkNote(key, bytes);
  try {
    await objects.put(NOTES + key, bytes, { isOnce: true, contentType: "application/json" });
  } catch (error) {
    const found = await getNote(objects, key);
    if (!found) throw error;
    if (!found.equals(bytes)) throw new NoteExistsError(key);
  }
}

/** Implements NoteStore.getNote. */
export async function getNote(objects: BucketObjects, key: string): Promise<Buffer | undefined> {
  checkNote(key);
  return await objects.get(NOTES + key);
}

/** Implements NoteStore.listNotes. */
export async function* listNotes(objects: BucketObjects, prefix: string): AsyncGenerator<ListedNote, void> {
  checkNotePrefix(prefix);
  for await (const { key, modifiedAtMs } of objects.list(NOTES + prefix))
    yield { key: key.slice(NOTES.length), modifiedAtMs };
}

/** Implements NoteStore.removeNote. */
export async function removeNote(objects: BucketObjects, key: string): Promise<void> {
  checkNote(key);
  await objects.remove(NOTES + key);
}
