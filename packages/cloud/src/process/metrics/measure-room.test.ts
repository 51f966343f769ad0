import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { measureRoom, stateOf } from "./measure-room.ts";

test("the disk of each folder is measured; a folder that is not there is left out", async () => {
  const folders = [
    { of: "objects", path: tmpdir() },
    { of: "database", path: join(tmpdir(), "is", "not", "there") },
  ] as const;
  const [room, ...others] = await measureRoom(folders);
  assert.deepEqual(others, []);
  assert.equal(room!.of, "objects");
  assert.ok(room!.totalBytes > 0 && room!.freeBytes <= room!.totalBytes);
});

test("a disk is low below 5 % and 10 GB, and full below 100 MB", () => {
  const cases: [free: number, total: number, state: string][] = [
    [99e6, 1e12, "full"],
    [101e6, 1e12, "low"],
    [9.9e9, 1e12, "low"],
    [10.1e9, 1e12, "ok"],
    [4.9e9, 100e9, "low"],
    [5.1e9, 100e9, "ok"],
    [101e6, 1e9, "ok"],
  ];
  for (const [free, total, state] of cases) assert.equal(stateOf(free, total), state, `${free} of ${total}`);
});
