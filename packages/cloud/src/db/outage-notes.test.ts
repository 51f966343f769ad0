import assert from "node:assert/strict";
import { test } from "node:test";
import { StorageFullError } from "../store/blobs/blob-errors.ts";
import { OutageNotes } from "./outage-notes.ts";

const away = () => Object.assign(new Error("the database system is starting up"), { code: "57P03" });

test("an outage is two lines, however many parts of the process notice it", async () => {
  const lines: [string, object, string][] = [];
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const notes = new OutageNotes((...line) => {
    lines.push(line);
    if (lines.length === 2) resolve();
  }, 20);
  for (let at = 0; at < 69; at++) assert.equal(notes.takes({ err: away() }), true);
  assert.equal(notes.takes({ err: { ...away(), message: "as a plain object" } }), true);
  assert.equal(notes.takes({ reason: "terminating connection due to administrator command" }), true);
  assert.equal(lines.length, 1);
  await over;
  assert.deepEqual(
    lines.map(([level, , message]) => [level, message]),
    [
      ["warn", "the database is away; everything that needs it is tried again"],
      ["info", "the database is there again"],
    ],
  );
  assert.partialDeepStrictEqual(lines[1]![1], { linesLeftOut: 70 });
  notes.takes({ err: away() });
  assert.equal(lines.length, 3, "another outage is another line");
});

test("a full disk, of the database or of the objects, is two lines of its own", async () => {
  const lines: string[] = [];
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const notes = new OutageNotes((_level, details, message) => {
    lines.push(`${message} ${(details as { because?: string }).because ?? ""}`);
    if (lines.length === 3) resolve();
  }, 20);
  const full = Object.assign(new Error("could not extend file"), { code: "53100" });
  const ofObjects = new StorageFullError(Object.assign(new Error("ENOSPC: no space left"), { code: "ENOSPC" }));
  for (const err of [full, ofObjects, full, ofObjects.cause]) assert.equal(notes.takes({ err }), true);
  notes.takes({ err: away() });
  await over;
  assert.deepEqual(lines.slice(0, 2), [
    "there is no room: what is sent is refused with 507 StorageFull; free or add storage could not extend file",
    "the database is away; everything that needs it is tried again the database system is starting up",
  ]);
});

test("what is no outage is written as it is", () => {
  const notes = new OutageNotes(() => assert.fail("nothing is to be said"));
  for (const details of [undefined, "text", {}, { err: new Error("a bug") }, { reason: "the disk is full" }])
    assert.equal(notes.takes(details), false);
});
