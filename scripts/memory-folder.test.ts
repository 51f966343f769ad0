import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openMemoryFolder } from "./memory-folder.ts";

function makeParent(t: TestContext): string {
  const parent = mkdtempSync(join(tmpdir(), "downlink-memory-"));
  t.after(() => rmSync(parent, { recursive: true }));
  return parent;
}

test("the folder of a run is everybody's, as that of the system, and goes with the run", (t) => {
  const parent = makeParent(t);
  const folder = openMemoryFolder({ parent, neededBytes: 0 })!;
  assert.equal(statSync(folder.path).mode & 0o7777, 0o1777);
  mkdirSync(join(folder.path, "files"));
  folder[Symbol.dispose]();
  assert.deepEqual(readdirSync(parent), []);
});

test("what a killed run left goes with the next one, also if both have one number; what a living run has stays", (t) => {
  const parent = makeParent(t);
  const leave = (pid: number) => {
    mkdirSync(join(parent, `downlink-tests-${pid}-a`, "files"), { recursive: true });
    return join(parent, `downlink-tests-${pid}-a`);
  };
  const places = [leave(spawnSync("true").pid), leave(process.pid), leave(process.ppid)];
  using folder = openMemoryFolder({ parent, neededBytes: 0 })!;
  assert.deepEqual(
    [...places, folder.path].map((path) => existsSync(path)),
    [false, false, true, true],
  );
});

test("where there is no room, or no such folder, the files are where the system has them", (t) => {
  const parent = makeParent(t);
  assert.equal(openMemoryFolder({ parent, neededBytes: Number.POSITIVE_INFINITY }), undefined);
  assert.equal(openMemoryFolder({ parent: join(parent, "none") }), undefined);
  assert.deepEqual(readdirSync(parent), []);
});
