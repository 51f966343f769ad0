// A site notes in its own store what it has, each note once and durably. A request of an upload link has one file, and its notes bear the
// id of the request. An agent may be asked for a file again, so the notes of an agent's upload bear the id of the upload.

import { z } from "zod";
import { newId } from "../../db/ids.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import { NoteExistsError } from "../../store/blobs/notes.ts";

const Received = z.object({
  requestId: z.string(),
  key: z.string(),
  sizeBytes: z.int().min(0),
  /** The description of the request in the upload link, for a control plane that has forgotten it. */
  request: z.string().optional(),
  /** An agent sent it in parts. */
  inParts: z.literal(true).optional(),
  /** The SHA-256 that the agent announced. */
  sha256: z.string().optional(),
});
/** The file of a request. */
export type Received = z.infer<typeof Received>;

const Begun = Received.pick({ requestId: true, key: true });
type Begun = z.infer<typeof Begun>;

type NoteReader = Pick<BlobStore, "getNote" | "listNotes">;
type Store = Pick<BlobStore, "put" | "stat" | "delete" | "putNote" | "getNote" | "listNotes" | "removeNote">;

/** Notes the beginning of a file under a key that is its own, and returns that key. */
export async function beginFile(
  store: Store,
  { orgId, requestId }: { orgId: string; requestId: string },
): Promise<string> {
  const key = `${orgId}/${newId("upl")}`;
  await store.putNote(begunKey(key), toBytes({ requestId, key }));
  return key;
}

/** Says whether the file is now the one of its request; false if another one came first, and then this one is removed. */
export async function keepFile(store: Store, received: Received): Promise<boolean> {
  try {
    await store.putNote(receivedKey(nameOf(received)), toBytes(received));
  } catch (error) {
    if (!(error instanceof NoteExistsError)) throw error;
    await dropFile(store, received.key);
    return false;
  }
  await finishKept(store, received);
  return true;
}

async function finishKept(store: Store, received: Received): Promise<void> {
  await store.putNote(unreportedKey(nameOf(received)), toBytes(received));
  await store.removeNote(begunKey(received.key));
}

/** The object was not acknowledged: nothing of it stays. */
export async function dropFile(store: Store, key: string): Promise<void> {
  await store.delete(key);
  await store.removeNote(begunKey(key));
}

/** Notes what the parts are to become, before they do. A repeat replaces it, because nothing was acknowledged. */
export async function beginCompletion(store: Store, received: Received): Promise<void> {
  const note = completingKey(received.key);
  const bytes = toBytes(received);
  const former = await store.getNote(note);
  if (former && !bytes.equals(former)) await store.removeNote(note);
  await store.putNote(note, bytes);
}

/** The parts have become the file: it is noted, with what was announced of it. Does nothing where that was done before. */
export async function finishCompletion(store: Store, file: Omit<Received, "inParts" | "sha256">): Promise<void> {
  const { key } = file;
  const announced = await store.getNote(completingKey(key));
  const received = await store.getNote(receivedKey(uploadOf(key)));
  if (!announced && received) return;
  // If two calls came at the same moment, one of them was acknowledged, and what the other one announced does not count.
  const bytes = received ?? announced ?? toBytes({ ...file, inParts: true });
  if (!received) await store.putNote(receivedKey(uploadOf(key)), bytes);
  await store.putNote(unreportedKey(uploadOf(key)), bytes);
  await store.removeNote(completingKey(key));
}

/** Returns the file of a request, or of an agent's upload. */
export async function findReceived(store: Pick<Store, "getNote">, name: string): Promise<Received | undefined> {
  const bytes = await store.getNote(receivedKey(name));
  return bytes && Received.parse(JSON.parse(Buffer.from(bytes).toString()));
}

/**
 * Completes what a killed process left half done, where a `begun` or `completing` note names an object that is whole, and removes other
 * objects, which were not acknowledged. Nothing may be received meanwhile: in a store that another process may use, too, nothing is removed
 * (see {@link dropAbandoned}).
 */
export async function recoverFiles(store: Store, { isShared = false } = {}): Promise<void> {
  for await (const note of store.listNotes("begun/")) {
    const bytes = await store.getNote(note.key);
    if (!bytes) continue;
    const { requestId, key }: Begun = Begun.parse(JSON.parse(Buffer.from(bytes).toString()));
    const received = await findReceived(store, requestId);
    if (received?.key === key) await finishKept(store, received);
    else if (!isShared) await dropFile(store, key);
  }
  for await (const { key: note } of store.listNotes("completing/")) {
    const bytes = await store.getNote(note);
    const file = bytes && Received.parse(JSON.parse(Buffer.from(bytes).toString()));
    if (file && (await store.stat(file.key))) await finishCompletion(store, file); // else its agent goes on
  }
}

/** Removes what was begun before this time, and was not acknowledged since. */
export async function dropAbandoned(store: Store, beforeMs: number): Promise<void> {
  for await (const note of store.listNotes("begun/")) {
    const bytes = note.modifiedAtMs < beforeMs ? await store.getNote(note.key) : undefined;
    if (!bytes) continue;
    const { requestId, key }: Begun = Begun.parse(JSON.parse(Buffer.from(bytes).toString()));
    if ((await findReceived(store, requestId))?.key !== key) await dropFile(store, key);
  }
}

/** Lists the files that the control plane does not know of. */
export function listUnreported(store: NoteReader): AsyncGenerator<Received> {
  return listFiles(store, "unreported/");
}

/** Lists the files of all requests. */
export function listReceived(store: NoteReader): AsyncGenerator<Received> {
  return listFiles(store, "received/");
}

async function* listFiles(store: NoteReader, kind: string): AsyncGenerator<Received> {
  for await (const note of store.listNotes(kind)) {
    const bytes = await store.getNote(note.key);
    if (bytes) yield Received.parse(JSON.parse(Buffer.from(bytes).toString()));
  }
}

/** Says whether a file with this key is coming at this moment. */
export async function isBegun(store: NoteReader, key: string): Promise<boolean> {
  return (await store.getNote(begunKey(key))) !== undefined;
}

/** The control plane knows of it. */
export async function noteReported(store: Store, received: Received): Promise<void> {
  await store.removeNote(unreportedKey(nameOf(received)));
}

/** The control plane was restored from a backup, and may have forgotten any of them. */
export async function reportAllAgain(store: Store): Promise<void> {
  for await (const note of store.listNotes("received/")) {
    const bytes = await store.getNote(note.key);
    if (bytes) await store.putNote(note.key.replace("received/", "unreported/"), bytes);
  }
}

/** Removes an object, or an unfinished upload, that is not needed any more, with its notes. A repeat is harmless. */
export async function removeFile(store: Store, { requestId, key, indexKey }: Removal): Promise<void> {
  await store.delete(indexKey);
  await store.delete(key);
  await store.removeNote(completingKey(key));
  for (const name of [requestId, uploadOf(key)]) {
    const received = await findReceived(store, name);
    if (received?.key !== key) continue;
    await store.removeNote(unreportedKey(name));
    await store.removeNote(receivedKey(name));
  }
}

interface Removal {
  readonly requestId: string;
  readonly key: string;
  readonly indexKey: string;
}

/** Returns the name that the notes of a file bear. */
function nameOf({ requestId, key, inParts }: Received): string {
  return inParts ? uploadOf(key) : requestId;
}

function uploadOf(key: string): string {
  return key.split("/")[1]!;
}

/** Noted before the first byte: an object may be there that was never acknowledged. */
function begunKey(key: string): string {
  return `begun/${uploadOf(key)}`;
}

/** The parts of an agent's upload are about to become its file, which has the SHA-256 that the agent announced. */
function completingKey(key: string): string {
  return `completing/${uploadOf(key)}`;
}

/** The file of a request: the first whole one, and the only one that was acknowledged. */
function receivedKey(name: string): string {
  return `received/${name}`;
}

/** The control plane does not know yet that the file is there. */
function unreportedKey(name: string): string {
  return `unreported/${name}`;
}

function toBytes(note: Begun | Received): Buffer {
  return Buffer.from(JSON.stringify(note));
}
