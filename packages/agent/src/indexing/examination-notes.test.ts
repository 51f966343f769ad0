import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import { openDatabase } from "../state/database.ts";
import { openStateFacts } from "../state/state-facts.ts";
import { systemClock } from "../system/clock.ts";
import { openExaminationNotes } from "./examination-notes.ts";

const file = (versionId: string, sizeBytes = 1): TrackedFile =>
  ({
    versionId,
    path: versionId,
    identity: { device: 0, inode: 1, sizeBytes, mtimeNs: 1n, ctimeNs: 1n },
  }) as TrackedFile;

/** Opens the notes as the next process does, which finds what the last one left. */
function makeLives(t: TestContext) {
  const stateDir = mkdtempSync(join(tmpdir(), "downlink-notes-"));
  const { database } = openDatabase(stateDir);
  t.after(() => {
    database.close();
    rmSync(stateDir, { recursive: true });
  });
  const next = (bootId = "boot") =>
    openExaminationNotes(stateDir, { facts: openStateFacts(database, stateDir), clock: systemClock, bootId });
  return { stateDir, next };
}

test("what was being examined when a process died is suspected by the next; what was ended, or stopped in order, is not", (t) => {
  const { next } = makeLives(t);
  const first = next();
  first.begin(file("dying"), "index");
  first.begin(file("done"), "index")[Symbol.dispose]();
  const second = next();
  assert.deepEqual(
    ["dying", "done"].map((name) => second.standingOf(file(name), "index")),
    ["suspect", "clear"],
  );
  assert.equal(second.standingOf(file("dying"), "salvage"), "clear");
  assert.equal(second.standingOf(file("dying", 2), "index"), "clear", "its content is another one by now");
  second.begin(file("stopped"), "index");
  second.close();
  assert.equal(next().standingOf(file("stopped"), "index"), "clear");
});

test("two deaths set a file aside over all later starts, and one examination that ends acquits it", (t) => {
  const { next } = makeLives(t);
  for (let life = 1; life <= 2; life += 1) next().begin(file("a"), "index");
  assert.equal(next().standingOf(file("a"), "index"), "setAside");
  const later = next();
  assert.equal(later.standingOf(file("a"), "index"), "setAside");
  later.acquit(file("a"), "index");
  assert.equal(next().standingOf(file("a"), "index"), "clear");
});

test("power cuts in mid-examination only make a file wait for the others", (t) => {
  const { next } = makeLives(t);
  for (const boot of ["1", "2", "3"]) next(boot).begin(file("long"), "index");
  assert.equal(next("4").standingOf(file("long"), "index"), "suspect");
});

test("a note that a power cut left as rubbish counts as none", (t) => {
  const { stateDir, next } = makeLives(t);
  for (const rubbish of ["", "\0\0\0", '{"id":"x","keys"', "null", '{"id":"x"}', '{"id":"x","keys":7}']) {
    writeFileSync(join(stateDir, "agent.examining"), rubbish);
    assert.equal(next().standingOf(file("a"), "index"), "clear", rubbish);
  }
});
