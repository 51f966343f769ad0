import assert from "node:assert/strict";
import { test } from "node:test";
import { lastUse } from "./last-use.ts";

test("a token was not used before it was made", () => {
  assert.equal(lastUse({ createdAt: 90n, lastUsedAt: 60n }), 90n);
  assert.equal(lastUse({ createdAt: 90n, lastUsedAt: 120n }), 120n);
});
