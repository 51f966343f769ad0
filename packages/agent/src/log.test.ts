import assert from "node:assert/strict";
import { test } from "node:test";
import { createLog, maskTokens } from "./log.ts";

function logInto(lines: string[], format: "text" | "json" | "auto") {
  return createLog({ format, level: "info", out: { write: (text) => lines.push(text), on: () => undefined } });
}

test("a token is masked wherever it turns up, all but its kind and its end", () => {
  const lines: string[] = [];
  const log = logInto(lines, "json");
  log.info(
    { header: "Bearer dl_dt_0123456789abcdefXYZ9", err: new Error("dl_sk_secretsecretABCD") },
    "dl_st_abcdefgh1234",
  );
  const { header, msg } = JSON.parse(lines[0]!) as Record<string, string>;
  assert.deepEqual([header, msg], ["Bearer dl_dt_…XYZ9", "dl_st_…1234"]);
  assert.ok(!lines[0]!.includes("secretsecret"));
  assert.equal(maskTokens("no token here"), "no token here");
  assert.equal(maskTokens("by http://rover:word@proxy:1/ and a@b"), "by http://…@proxy:1/ and a@b");
});

test("a person reads time, level, message and facts; a machine reads JSON", () => {
  const lines: string[] = [];
  logInto(lines, "text").warn({ path: "a b", count: 2 }, "careful");
  assert.match(lines[0]!, /^\d\d:\d\d:\d\d WARN {2}careful path=a b count=2\n$/);
  logInto(lines, "auto").warn("careful");
  assert.equal((JSON.parse(lines[1]!) as { msg: string }).msg, "careful");
});
