import assert from "node:assert/strict";
import { test } from "node:test";
import { formatLine, maskTokens } from "./log.ts";

const line = (fields: object) =>
  JSON.stringify({ level: 40, time: Date.UTC(2026, 0, 2, 3, 4, 5), pid: 1, hostname: "h", ...fields });

test("for a person a line has its time, its level, what happened and the facts", () => {
  const text = formatLine(
    line({ msg: "an idle database connection was lost", reason: "the server stopped", count: 2 }),
  );
  assert.equal(text, "03:04:05 WARN  an idle database connection was lost reason=the server stopped count=2\n");
});

test("the stack of an error stands below it", () => {
  assert.equal(
    formatLine(line({ msg: "failed", err: { stack: "Error: x\n    at y" } })),
    "03:04:05 WARN  failed\nError: x\n    at y\n",
  );
});

test("a terminal obeys nothing that a name holds", () => {
  assert.equal(
    formatLine(line({ msg: "robot \u001b[31m\u202e" })),
    "03:04:05 WARN  robot \\u001b[31m\u202e\n".replace("\u202e", '"\u202e"'.slice(1, -1)),
  );
});

test("no token and no password is written", () => {
  const text = "token dl_sk_0123456789abcdefABCD of postgresql://user:secret@db/x";
  assert.equal(maskTokens(text), "token dl_sk_…ABCD of postgresql://…@db/x");
});
