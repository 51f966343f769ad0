import assert from "node:assert/strict";
import { test } from "node:test";
import { describePart, nameTopics, shownPath } from "./cut-text.ts";

test("a part is described by its topics and its length", () => {
  const topics = ["/a", "/b", "/c", "/d"];
  assert.equal(describePart({ topics, start: 0n, end: 40_000_000_000n }), "4 topics, 40 s");
  assert.equal(describePart({ topics: ["/a"], start: 5n, end: 5n }), "1 topic, 0 s");
});

test("few topics are named, and hidden characters of names are shown", () => {
  assert.equal(nameTopics(["/imu", "/a\u202eb"]), "/imu, /a⟨U+202E⟩b");
  assert.equal(nameTopics(["/a", "/b", "/c", "/d"]), "4 topics");
});

test("a part is listed by the path of its whole recording", () => {
  const path = ".downlink-cuts/cut_1/day/run.mcap";
  const cutOf = { recordingId: "rec_1", topics: ["/imu"], start: 0n, end: 1n };
  assert.equal(shownPath({ id: "rec_2", path, cutOf }), "day/run.mcap");
  assert.equal(shownPath({ id: "rec_2", path }), path, "it is no part");
  assert.equal(shownPath({ id: "rec_2", path: "" }), "rec_2");
});
