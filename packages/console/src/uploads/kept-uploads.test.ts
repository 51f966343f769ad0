import assert from "node:assert/strict";
import { test } from "node:test";
import { isSameFile, type KeptUpload, parseKept, withUpload } from "./kept-uploads.ts";

const record: KeptUpload = {
  requestId: "req_1",
  name: "run.mcap",
  size: 12,
  lastModified: 1_760_000_000_000,
  sha256: "ab".repeat(32),
  projectId: "prj_1",
  device: "rover",
  userId: "usr_1",
};

test("records are read as they were written", () => {
  const records = [record, { ...record, requestId: "req_2", sessionKey: "morning" }];
  assert.deepEqual(parseKept(JSON.stringify(records)), records);
});

test("what is no record is left out, and the others are read", () => {
  for (const text of [undefined, "", "{", "null", "7", '"x"', "{}", "[null]", "[[]]", '[{"requestId":"req_1"}]'])
    assert.deepEqual(parseKept(text), [], String(text));
  const wrong = [
    { ...record, requestId: "" },
    { ...record, size: 0 },
    { ...record, size: "12" },
    { ...record, sha256: "AB" },
    { ...record, userId: undefined },
  ];
  assert.deepEqual(parseKept(JSON.stringify([...wrong, record, 5])), [record]);
});

test("a record takes the place of its former one, and the oldest make room", () => {
  assert.deepEqual(withUpload([record], { ...record, name: "other.mcap" }), [{ ...record, name: "other.mcap" }]);
  const many = Array.from({ length: 100 }, (_, at) => ({ ...record, requestId: `old_${at}` }));
  const kept = withUpload(many, record);
  assert.deepEqual([kept.length, kept[0]!.requestId, kept.at(-1)], [100, "old_1", record]);
});

test("a file is the same with its name, its size and its time alone", () => {
  assert.ok(isSameFile(record, { ...record }));
  for (const other of [{ name: "a.mcap" }, { size: 13 }, { lastModified: 1 }])
    assert.ok(!isSameFile(record, { ...record, ...other }), JSON.stringify(other));
});
