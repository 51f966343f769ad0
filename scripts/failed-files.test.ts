import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { type FailedTest, filesToRunAgain, findFlaky, logFlaky, noteFailures } from "./failed-files.ts";

function failure(file: string, title = "a promise"): FailedTest {
  return { file, title, error: new Error("broken") };
}

test("a failed test is noted with its file and its error, and a suite that failed because of it is not", () => {
  const events = new EventEmitter();
  const failed = noteFailures(events);
  const cause = new Error("broken");
  events.emit("test:fail", {
    name: "a promise",
    file: "a.ts",
    details: { error: { failureType: "testCodeFailure", cause } },
  });
  events.emit("test:fail", {
    name: "tests of a.ts",
    file: "a.ts",
    details: { error: { failureType: "subtestsFailed" } },
  });
  assert.deepEqual(failed, [{ file: "a.ts", title: "a promise", error: cause }]);
});

test("each file that failed is run again once, and none if eleven failed", () => {
  assert.deepEqual(filesToRunAgain([failure("a.ts"), failure("a.ts", "another"), failure("b.ts")]), ["a.ts", "b.ts"]);
  const many = Array.from({ length: 11 }, (_, index) => failure(`${index}.ts`));
  assert.equal(filesToRunAgain(many.slice(1)).length, 10);
  assert.deepEqual(filesToRunAgain(many), []);
});

test("a test is flaky if its whole file passed when it was run again", () => {
  const first = [failure("a.ts"), failure("b.ts")];
  assert.deepEqual(findFlaky(first, [failure("b.ts", "another")]), [first[0]]);
});

test("what the first run said of a flaky test is kept", () => {
  const path = join(mkdtempSync(join(tmpdir(), "flaky-")), "cache", "flaky.log");
  logFlaky(path, [failure("a.ts")]);
  logFlaky(path, [failure("b.ts")]);
  const log = readFileSync(path, "utf8");
  assert.match(log, /a\.ts: a promise\nError: broken/);
  assert.match(log, /b\.ts: a promise\nError: broken/);
});
