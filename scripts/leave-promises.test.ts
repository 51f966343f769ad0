import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

/** Tests whose parts and errors come after promises, some of which are awaited nowhere. */
const AFTER_PROMISES = `
import { suite, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
test("throws later", async () => {
  await delay(1);
  setTimeout(() => { throw new Error("by a timer"); }, 1);
  await new Promise(() => {});
});
test("rejects nowhere", async () => {
  await delay(1);
  void Promise.reject(new Error("by a promise"));
  await new Promise(() => {});
});
test("has a part", async () => {
  await delay(1);
  await test("the part", async () => await delay(1));
});
test("file", () => void suite("suite", async () => {
  await delay(1);
  test("in the suite", async () => await delay(1));
}));
`;

test("an error that was caught nowhere fails the test that it comes from, and a test belongs to the one that makes it", (t) => {
  const dir = mkdtempSync(join(tmpdir(), "downlink-promises-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const file = join(dir, "after-promises.test.mjs");
  writeFileSync(file, AFTER_PROMISES);
  const results = (preload: readonly string[]) => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const { stdout } = spawnSync(process.execPath, [...preload, "--test-reporter=tap", file], {
      env,
      encoding: "utf8",
    });
    return stdout.split("\n").filter((line) => /^ *((not )?ok|error:) /.test(line));
  };
  const left = results(["--import", import.meta.resolve("./leave-promises.ts")]);
  assert.deepEqual(left, results([]));
  assert.deepEqual(
    left.filter((line) => line.includes("not ok") || line.includes("by a")),
    ["not ok 1 - throws later", "  error: 'by a timer'", "not ok 2 - rejects nowhere", "  error: 'by a promise'"],
  );
  assert.ok(left.includes("    ok 1 - the part"), left.join("\n"));
  assert.ok(left.includes("        ok 1 - in the suite"), left.join("\n"));
});
