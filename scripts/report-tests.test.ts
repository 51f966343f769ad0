import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { reportTests } from "./report-tests.ts";

function reported(isTTY = false) {
  let text = "";
  const events = new EventEmitter();
  const report = reportTests({ isTTY, write: (piece) => (text += piece) }, (file) => file.replace("/root/", ""));
  report.watch(events);
  const pass = (name: string, ms: number, more: object = {}) =>
    events.emit("test:pass", { name, nesting: 0, file: "/root/a.test.ts", details: { duration_ms: ms }, ...more });
  const fail = (name: string, error: object) =>
    events.emit("test:fail", { name, nesting: 0, file: "/root/a.test.ts", details: { duration_ms: 1, error } });
  const write = (message: string) => events.emit("test:stderr", { file: "/root/a.test.ts", message });
  const end = () => {
    report.end();
    return text;
  };
  return { pass, fail, write, end, excuse: report.excuse };
}

test("a run is reported by its counts, its failures, and what took longer than two seconds", () => {
  const { pass, fail, end } = reported();
  pass("quick", 10);
  pass("slow", 2500);
  pass("slower", 9000);
  pass("not here", 0, { skip: "needs root" });
  pass("packages/cloud/src/a.test.ts", 9999);
  pass("tests of it", 9999, { details: { duration_ms: 9999, type: "suite" } });
  fail("a promise", { failureType: "testCodeFailure", cause: new Error("broken") });
  fail("tests of it", { failureType: "subtestsFailed" });
  const lines = end().split("\n");
  assert.equal(lines[0], "skipped: not here: needs root");
  assert.equal(lines[1], "✖ a.test.ts: a promise");
  assert.match(lines[2]!, /^Error: broken/);
  const at = lines.indexOf("tests of more than 2 s, the longest first:");
  assert.deepEqual(lines.slice(at + 1, at + 3), ["     9.0 s  a.test.ts: slower", "     2.5 s  a.test.ts: slow"]);
  assert.equal(lines.at(-2), "3 passed, 1 failed, 1 skipped");
});

test("a terminal shows how far the run is, and the line goes before anything else is said", () => {
  const { pass, fail, end } = reported(true);
  pass("quick", 10);
  fail("a promise", { failureType: "testCodeFailure", cause: new Error("broken") });
  assert.ok(end().startsWith("\r\u001b[K1 passed, 0 failed, 0 s\r\u001b[K✖ a.test.ts: a promise"));
});

test("a process that ends before its tests do says how it ended, and what it wrote last", () => {
  const { fail, write, end } = reported();
  write("x".repeat(9000));
  write("out of memory\n");
  fail("/root/a.test.ts", { failureType: "testCodeFailure", cause: "test failed", exitCode: null, signal: "SIGTRAP" });
  const text = end();
  assert.match(text, /^✖ a\.test\.ts: the process was ended by SIGTRAP\nx+out of memory\n/);
  assert.ok(text.length < 4500);
});

test("what passed when it was run again counts as flaky, and as no failure", () => {
  const { fail, excuse, end } = reported();
  fail("a promise", { failureType: "testCodeFailure", cause: new Error("broken") });
  excuse(1);
  assert.match(end(), /\n0 passed, 0 failed, 0 skipped, 1 flaky\n$/);
});
