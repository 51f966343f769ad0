import { ApiError } from "../../core/errors.ts";

/**
 * A store for small texts beside the objects, which describe the objects and the deployment without the database. A note is written once,
 * is never changed, and is not in `BlobStore.list`. Its key is a kind and one to three names, such as
 * `manifests/<organization>/<upload>/begun`; a key of another shape is a bug and throws a TypeError.
 */
export interface NoteStore {
  /**
   * Writes a note of at most {@link MOST_NOTE_BYTES}: it is whole and durable once this returns. The same bytes again are harmless, even at
   * the same time; throws {@link NoteExistsError} if the key has other bytes, and StorageFullError.
   */
  putNote(key: string, bytes: Uint8Array): Promise<void>;
  /** Returns undefined if there is none. The store is asked each time, and nothing is remembered. A note that is found is durable. */
  getNote(key: string): Promise<Uint8Array | undefined>;
  /** Lists the notes whose keys begin with `prefix`, which names at least the kind and its slash; in no order. */
  listNotes(prefix: string): AsyncIterable<ListedNote>;
  /** Does nothing if there is none. */
  removeNote(key: string): Promise<void>;
}

export interface ListedNote {
  readonly key: string;
  readonly modifiedAtMs: number;
}

export const MOST_NOTE_BYTES = 1024 * 1024;

const KEY = /^[a-z]{1,32}(\/[a-z0-9_-]{1,64}){1,3}$/;
const PREFIX = /^[a-z]{1,32}\/[a-z0-9_/-]*$/;

/** The key has a note with other bytes already, and a note is never replaced. */
export class NoteExistsError extends ApiError {
  constructor(key: string) {
    super("Conflict", `another note is already stored as ${key}`);
    this.name = "NoteExistsError";
  }
}

export function checkNote(key: string, bytes?: Uint8Array): void {
  if (!KEY.test(key)) throw new TypeError(`not the key of a note: ${JSON.stringify(key)}`);
  if (bytes && bytes.byteLength > MOST_NOTE_BYTES) throw new TypeError(`the note ${key} is too long`);
}

export function checkNotePrefix(prefix: string): void {
  if (!PREFIX.test(prefix)) throw new TypeError(`not the beginning of notes' keys: ${JSON.stringify(prefix)}`);
}
