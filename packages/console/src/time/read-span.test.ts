import assert from "node:assert/strict";
import { test } from "node:test";
import { readSpan } from "./read-span.ts";

const at = { zone: "UTC", nowMs: 0 };

test("a typed span is read, and each end that is no time is named", () => {
  const read = readSpan({ from: "2025-10-09 08:53:30", to: "2025-10-09 08:53:35" }, at);
  assert.deepEqual(read, {
    span: { startNs: 1_760_000_010_000_000_000n, endNs: 1_760_000_015_000_000_000n },
    problems: {},
  });
  const { span, problems } = readSpan({ from: "soon", to: "" }, at);
  assert.equal(span, undefined);
  assert.match(problems.from!, /“soon” is not a time/);
  assert.match(problems.to!, /^Type a time/);
});

test("a span that ends before it begins is no span", () => {
  const read = readSpan({ from: "2025-10-09 08:54", to: "2025-10-09 08:53" }, at);
  assert.deepEqual(read, { span: undefined, problems: { to: "The end lies before the start." } });
});
