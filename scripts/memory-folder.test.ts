import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openMemoryFolder } from "./memory-folder.ts";

test("the folder of a run is everybody's, as that of the system, and goes with the run; what a killed run left goes, too", (t) => {
  const parent = mkdtempSync(join(tmpdir(), "downlink-memory-"));
  t.after(() => rmSync(parent, { recursive: true }));
  const ended = spawnSync("/bin/true").pid;
  const [left, living] = [join(parent, `downlink-tests-${ended}`), join(parent, `downlink-tests-${process.ppid}`)];
  mkdirSync(join(left, "files"), { recursive: true });
  mkdirSync(living);
  const folder = openMemoryFolder(parent);
  if (!folder) return t.skip("there is no room for 4 GB");
  assert.equal(statSync(folder.path).mode & 0o7777, 0o1777);
  assert.deepEqual([existsSync(left), existsSync(living)], [false, true]);
  mkdirSync(join(folder.path, "files"));
  folder[Symbol.dispose]();
  assert.equal(existsSync(folder.path), false);
});

test("where there is no such folder, the files are where the system has them", () => {
  assert.equal(openMemoryFolder("/dev/shm/there/is/none"), undefined);
});
