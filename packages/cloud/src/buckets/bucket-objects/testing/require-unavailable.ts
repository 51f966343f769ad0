import assert from "node:assert/strict";
import type { Recording } from "@downlink/protocol";

/** Requires that the recordings are what they were before, besides that each says now why its data cannot be had. */
export function requireUnavailable(recordings: readonly Recording[], before: readonly Recording[], reason = ""): void {
  assert.notEqual(reason, "");
  for (const { unavailable } of recordings) assert.equal(unavailable?.reason, reason);
  assert.deepEqual(
    recordings.map(({ unavailable: _, ...rest }) => rest),
    before,
  );
}
