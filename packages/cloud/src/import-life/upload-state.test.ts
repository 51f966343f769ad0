import assert from "node:assert/strict";
import { test } from "node:test";
import { states } from "../db/generated/states.ts";
import { nextUploadState, type UploadEvent, type UploadState, uploadStatesBefore } from "./upload-state.ts";

const events: UploadEvent[] = ["store", "abandon", "redeliver", "remove"];

/** Every state, and where each event leads from it in the order above; `-` means that the event does not apply. */
const table: Record<UploadState, string> = {
  open: "stored abandoned abandoned removed",
  stored: "- - abandoned removed",
  abandoned: "- - - removed",
  removed: "- - - -",
};

for (const state of states.Upload.state)
  test(`from ${state} each event leads an upload where the drawing says`, () => {
    assert.equal(events.map((event) => nextUploadState(state, event) ?? "-").join(" "), table[state]);
  });

test("bytes are only ever accepted by an open upload", () => {
  assert.deepEqual(uploadStatesBefore("store"), ["open"]);
});
