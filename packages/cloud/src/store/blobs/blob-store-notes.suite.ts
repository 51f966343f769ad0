import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { MOST_NOTE_BYTES, NoteExistsError } from "./notes.ts";
import { inPieces, newKey } from "./testing/pieces.ts";
import type { Promises } from "./testing/store-under-test.ts";

const newNote = (kind = "marks") => `${kind}/${randomUUID()}`;

/** The promises that every NoteStore keeps. */
export const notes: Promises = {
  "a note is read as it was written, and does not exist before": async ({ store }) => {
    for (const bytes of [Buffer.alloc(0), Buffer.from('{"a":"ä"}'), randomBytes(MOST_NOTE_BYTES)]) {
      const key = newNote();
      assert.equal(await store.getNote(key), undefined);
      await store.putNote(key, bytes);
      assert(bytes.equals((await store.getNote(key))!));
    }
  },

  "a note is never replaced; the same bytes again are harmless": async ({ store }) => {
    const key = newNote();
    await store.putNote(key, Buffer.from("first"));
    await store.putNote(key, Buffer.from("first"));
    await assert.rejects(store.putNote(key, Buffer.from("other")), NoteExistsError);
    assert.equal(String(await store.getNote(key)), "first");
  },

  "if several notes are written under one key at the same time, one of them is stored, and complete": async ({
    store,
  }) => {
    const key = newNote();
    const texts = Array.from({ length: 6 }, (_, index) => String(index % 3).repeat(50_000));
    const results = await Promise.allSettled(texts.map((text) => store.putNote(key, Buffer.from(text))));
    const kept = String(await store.getNote(key));
    for (const [index, { status }] of results.entries())
      assert.equal(status === "fulfilled", texts[index] === kept, `note ${index}`);
  },

  "notes are listed by the beginning of their keys, each once": {
    async inEmptyStore({ store }) {
      const [begun, done] = ["manifests/org_a/upl_1/begun", "manifests/org_a/upl_1/import"];
      const others = ["manifests/org_a/upl_2/begun", "manifests/org_ab/upl_3/begun", "marks/manifests"];
      for (const key of [begun, done, ...others]) await store.putNote(key, Buffer.from(key));
      const list = async (prefix: string) =>
        (await Array.fromAsync(store.listNotes(prefix))).map(({ key }) => key).sort();
      assert.deepEqual(await list("manifests/org_a/"), [begun, done, others[0]]);
      assert.deepEqual(await list("manifests/org_a/upl_1/"), [begun, done]);
      assert.equal((await list("manifests/")).length, 4);
      assert.deepEqual(await list("ledger/"), []);
      const [mark] = await Array.fromAsync(store.listNotes("marks/"));
      assert(Math.abs(mark!.modifiedAtMs - Date.now()) < 60_000);
    },
  },

  "a note that is removed is gone; removing it again is harmless": {
    async inEmptyStore({ store }) {
      const [key, other] = [newNote(), newNote()];
      await store.removeNote(key);
      for (const each of [key, other]) await store.putNote(each, Buffer.from("x"));
      await store.removeNote(key);
      await store.removeNote(key);
      assert.equal(await store.getNote(key), undefined);
      assert.equal((await Array.fromAsync(store.listNotes("marks/"))).length, 1);
      await store.putNote(key, Buffer.from("y"));
      assert.equal(String(await store.getNote(key)), "y");
    },
  },

  "notes are not objects, and objects are not notes": {
    async inEmptyStore({ store }) {
      const key = newKey("org_a");
      await store.putNote(`manifests/${key}`, Buffer.from("note"));
      assert.deepEqual(await Array.fromAsync(store.list("")), []);
      assert.equal(await store.stat(key), undefined);
      await store.put(key, inPieces(Buffer.from("object")));
      assert.equal((await Array.fromAsync(store.list(""))).length, 1);
      await store.delete(key);
      assert.equal(String(await store.getNote(`manifests/${key}`)), "note");
    },
  },

  "every function refuses a key that the control plane never makes": async ({ store }) => {
    for (const key of [
      "",
      "marks",
      "marks/",
      "/marks",
      "marks/..",
      "marks/a.b",
      "Marks/a",
      "marks/a/b/c/d",
      "../a",
      "m/a\0",
    ]) {
      await assert.rejects(async () => store.putNote(key, Buffer.from("x")), TypeError, key);
      await assert.rejects(async () => store.getNote(key), TypeError, key);
      await assert.rejects(async () => store.removeNote(key), TypeError, key);
    }
    await assert.rejects(async () => store.putNote(newNote(), Buffer.alloc(MOST_NOTE_BYTES + 1)), TypeError);
    for (const prefix of ["", "marks", "../", "marks/../"])
      await assert.rejects(Array.fromAsync(store.listNotes(prefix)), TypeError, prefix);
  },
};
