import assert from "node:assert/strict";
import { test } from "node:test";
import { queryKey } from "./query-key.ts";

test("the keys of two inputs are equal exactly if the inputs are, also for times a nanosecond apart", () => {
  const at = (start: bigint) => queryKey("/v1/recordings", { start, limit: 10 });
  assert.deepEqual(at(1_760_000_000_000_000_000n), at(1_760_000_000_000_000_000n));
  assert.notDeepEqual(at(1_760_000_000_000_000_000n), at(1_760_000_000_000_000_001n));
  assert.notDeepEqual(queryKey("/a", { start: 1n }), queryKey("/a", { start: "1n " }));
});
