// While objects move to another store, the two stores look like one to all other code. Before it writes, lists or removes anything, and if
// the own store lacks an object, a process asks the database where the objects are now. So no process has to be notified, and one that
// stood still does not act on what it knew before.

import { pagesOf } from "../../core/pages-of.ts";
import { runSomeAtOnce } from "../../core/run-some-at-once.ts";
import { hasMarks } from "../../recovery/marks.ts";
import { BlobExistsError, BlobNotFoundError, UploadClosedError } from "../../store/blobs/blob-errors.ts";
import type { ListedObject } from "../../store/blobs/blob-store.ts";
import type { NoteStore } from "../../store/blobs/notes.ts";
import type { OpenedStore } from "../../store/bucket-uploads/open-store.ts";

const AT_ONCE = 16;

/** The stores while both are in use. */
export interface Both {
  readonly source: OpenedStore;
  readonly target: OpenedStore;
  /** The one that the settings do not name. */
  readonly other: OpenedStore;
}

interface Joined {
  readonly own: OpenedStore;
  readonly findBoth: () => Promise<Both | undefined>;
}

/** `findBoth` asks the database, by one short query; undefined: nothing moves, and the own store has everything. */
export function joinStores(own: OpenedStore, findBoth: () => Promise<Both | undefined>): OpenedStore {
  const joined = { own, findBoth };
  return {
    ...(own.directDigest && { directDigest: own.directDigest }),
    ...objectsOf(joined),
    ...uploadsOf(joined),
    ...notesOf(joined),
    check: async () => (await own.check()) ?? (await checkOther(await findBoth())),
  };
}

function objectsOf(joined: Joined) {
  const { own, findBoth } = joined;
  return {
    async put(key, body, options) {
      const both = await findBoth();
      if (both && (await both.source.stat(key))) throw new BlobExistsError(key);
      return await (both?.target ?? own).put(key, body, options);
    },
    async open(key, options) {
      try {
        return await own.open(key, options);
      } catch (error) {
        if (!(error instanceof BlobNotFoundError)) throw error;
        return await tryOtherStore(joined, error, (store) => store.open(key, options));
      }
    },
    stat: async (key) => (await own.stat(key)) ?? (await (await findBoth())?.other.stat(key)),
    delete: (key) => onEach(joined, (store) => store.delete(key)),
    async *list(prefix) {
      const both = await findBoth();
      yield* both ? listBoth(both, prefix) : own.list(prefix);
    },
  } satisfies Partial<OpenedStore>;
}

function uploadsOf(joined: Joined) {
  const { own, findBoth } = joined;
  /** An upload is open in one store only, and ends there. */
  const where = async <T>(act: (store: OpenedStore) => Promise<T>) => {
    try {
      return await act(own);
    } catch (error) {
      if (!(error instanceof UploadClosedError)) throw error;
      return await tryOtherStore(joined, error, act);
    }
  };
  return {
    async createUpload(key, plan) {
      const both = await findBoth();
      const store = both && (await hasUpload(both.source, key)) ? both.source : (both?.target ?? own);
      await store.createUpload(key, plan);
    },
    listParts: (key) => where((store) => store.listParts(key)),
    grantParts: (key, parts) => where((store) => store.grantParts(key, parts)),
    completeUpload: (key, parts) => where((store) => store.completeUpload(key, parts)),
    abortUpload: (key) => onEach(joined, (store) => store.abortUpload(key)),
    receivePart: (key, part, body) => where((store) => store.receivePart(key, part, body)),
    listPieces: (key, partNumber) => where((store) => store.listPieces(key, partNumber)),
    grantPieces: (key, pieces) => where((store) => store.grantPieces(key, pieces)),
    composePart: (key, part) => where((store) => store.composePart(key, part)),
    receivePiece: (key, piece, body) => where((store) => store.receivePiece(key, piece, body)),
  } satisfies Partial<OpenedStore>;
}

/**
 * Both stores have all notes. The marks of the own one are compared with the database, so that a store that was set back is noticed.
 */
function notesOf(joined: Joined) {
  const { own, findBoth } = joined;
  return {
    putNote: (key, bytes) => onEach(joined, (store) => store.putNote(key, bytes)),
    getNote: async (key) => (await own.getNote(key)) ?? (await (await findBoth())?.other.getNote(key)),
    listNotes: (prefix) => own.listNotes(prefix),
    removeNote: (key) => onEach(joined, (store) => store.removeNote(key)),
  } satisfies NoteStore;
}

/** Does the same in the other store, if there is one: an object that is missing here may be there. */
async function tryOtherStore<T>(
  { findBoth }: Joined,
  missed: unknown,
  act: (store: OpenedStore) => Promise<T>,
): Promise<T> {
  const both = await findBoth();
  if (!both) throw missed;
  return await act(both.other);
}

/** The source comes first: what a process wrote there that knew of one store only is then seen, and what breaks off is copied later. */
async function onEach({ own, findBoth }: Joined, act: (store: OpenedStore) => Promise<void>): Promise<void> {
  const both = await findBoth();
  for (const store of both ? [both.source, both.target] : [own]) await act(store);
}

/** Says whether an upload of this key is open there, or became an object. */
async function hasUpload(store: OpenedStore, key: string): Promise<boolean> {
  if (await store.stat(key)) return true;
  try {
    await store.listParts(key);
    return true;
  } catch (error) {
    if (error instanceof UploadClosedError) return false;
    throw error;
  }
}

async function checkOther(both: Both | undefined): Promise<string | undefined> {
  if (!both) return undefined;
  const fault = await both.other.check();
  if (fault !== undefined) return `while the objects move to another store: ${fault}`;
  if (await hasMarks(both.other)) return undefined;
  return "while the objects move to another store: one of the two has no mark: it is a wrong or unmounted store";
}

/** An object that both have is listed once. */
async function* listBoth({ source, target }: Both, prefix: string): AsyncGenerator<ListedObject, void> {
  yield* target.list(prefix);
  for await (const page of pagesOf(source.list(prefix))) {
    const copies = await runSomeAtOnce(page, AT_ONCE, ({ key }) => target.stat(key));
    yield* page.filter((_, at) => copies[at] === undefined);
  }
}
