import assert from "node:assert/strict";
import { test } from "node:test";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import { createYoungFiles } from "./young-files.ts";

const times = { settleTimeMs: 2000, incompleteAfterMs: 600_000, longestPauseMs: 30_000 };
const identity = { device: 0, inode: 1, sizeBytes: 1, mtimeNs: 0n, ctimeNs: 0n };
const file = (changes: Partial<TrackedFile> = {}): TrackedFile => ({
  ...{ versionId: "v", path: "a", identity, state: "seen", reportedAs: undefined, needsReport: false, revision: 0 },
  foundIn: 0,
  ...changes,
});

test("a new file is due after the settle time, and has settled then", () => {
  const young = createYoungFiles(times);
  young.sync([file()], 100);
  assert.deepEqual([young.nextDueMs(), young.takeDue(2099)], [2100, []]);
  assert.deepEqual(young.takeDue(2100), ["v"]);
  assert.deepEqual([young.restOf("v", 2099), young.restOf("v", 2100)], ["moving", "settled"]);
});

test("a file that the agent made has settled at once, unless another program changes it", () => {
  const young = createYoungFiles(times);
  const made = file({ path: ".downlink-cuts/cut_1/a.mcap" });
  young.sync([made], 100);
  assert.deepEqual([young.takeDue(100), young.restOf("v", 100)], [["v"], "settled"]);
  young.sync([{ ...made, identity: { ...identity, sizeBytes: 2 } }], 200);
  assert.deepEqual([young.takeDue(200), young.nextDueMs(), young.restOf("v", 200)], [[], 2200, "moving"]);
});

test("a file that was put off is due for a long look only, until it changes", () => {
  const young = createYoungFiles(times);
  young.sync([file()], 0);
  young.putOff("v");
  assert.deepEqual([young.takeDue(2000), young.nextDueMs()], [[], undefined]);
  assert.deepEqual([young.takePutOff(1999), young.takePutOff(2000), young.nextPutOffMs()], [[], ["v"], 2000]);
  young.postpone("v", 2000);
  assert.deepEqual([young.takePutOff(2000), young.nextPutOffMs()], [[], 4000]);
  young.sync([file({ identity: { ...identity, sizeBytes: 2 } })], 3000);
  assert.deepEqual([young.takePutOff(9000), young.takeDue(9000)], [[], ["v"]]);
});

test("a change begins the wait again; finding the same again does not", () => {
  const young = createYoungFiles(times);
  young.sync([file()], 0);
  young.sync([file()], 1000);
  assert.equal(young.nextDueMs(), 2000);
  young.sync([file({ identity: { ...identity, sizeBytes: 2 } })], 1500);
  assert.equal(young.nextDueMs(), 3500);
  young.restart("v", { ...identity, sizeBytes: 3 }, 3500);
  assert.equal(young.restOf("v", 3600), "moving");
});

test("a file without an end is looked at less and less often, but no later than when it is overdue", () => {
  const young = createYoungFiles(times);
  young.sync([file()], 0);
  const looks: number[] = [];
  for (let dueMs = young.nextDueMs()!; looks.at(-1) !== dueMs && dueMs <= 600_000; dueMs = young.nextDueMs()!) {
    looks.push(dueMs);
    young.postpone("v", dueMs);
  }
  assert.deepEqual(looks.slice(0, 6), [2000, 4000, 8000, 16_000, 32_000, 62_000]);
  assert.equal(looks.at(-1), 600_000);
  assert.equal(young.restOf("v", 600_000), "overdue");
});

test("what was indexed or is gone is young no longer", () => {
  const young = createYoungFiles(times);
  young.sync([file(), file({ versionId: "w" })], 0);
  young.sync([file({ state: "indexed" })], 0);
  assert.equal(young.size, 0);
});

test("a file that waits for its next look is looked at at once when somebody asks for it", () => {
  const young = createYoungFiles(times);
  young.sync([file()], 0);
  for (const nowMs of [2000, 4000, 8000]) young.postpone("v", nowMs);
  assert.deepEqual(young.takeDue(9000), []);
  assert.deepEqual([young.hurry("v", 9000), young.takeDue(9000)], [true, ["v"]]);
  assert.equal(young.hurry("another", 9000), false);
});
