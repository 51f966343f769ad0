import assert from "node:assert/strict";
import { test } from "node:test";
import { newUpload, type UploadState } from "./upload-state.ts";
import { sumUp, textOf } from "./upload-text.ts";

const say = (state: Partial<UploadState>, samples: Parameters<typeof textOf>[0]["samples"] = []) =>
  textOf({ state: { ...newUpload, ...state }, size: 1_000_000_000, samples });

test("an upload says how far it is, how fast, and how long it takes", () => {
  assert.equal(say({ phase: "checking", checkedBytes: 345_000_000 }), "Checking 34 %");
  assert.equal(say({ phase: "sending", sentBytes: 340_000_000 }), "34 %");
  const samples = [
    { atMs: 0, bytes: 333_600_000 },
    { atMs: 2000, bytes: 340_000_000 },
  ];
  assert.equal(say({ phase: "sending", sentBytes: 340_000_000 }, samples), "34 % · 3.2 MB/s · 4 min left");
  assert.equal(say({ phase: "sending", sentBytes: 999_999_999 }, samples), "99 % · 3.2 MB/s · 1 s left");
});

test("an upload that stands says why", () => {
  assert.equal(say({ phase: "away", sentBytes: 10_000_000 }), "1 % · Waiting for the control plane");
  assert.equal(say({ phase: "interrupted", sentBytes: 340_000_000 }), "34 %: choose the file again to go on");
  assert.equal(say({ phase: "failed", problem: "No." }), "No.");
});

test("an upload of which no more is known than that it was sent does not claim to be imported", () => {
  assert.equal(say({ phase: "imported" }), "Sent, to be imported");
  assert.equal(say({ phase: "imported", recordingId: "rec_1" }), "Imported");
});

test("the sum says how many are done, and why others are not", () => {
  const all = (["imported", "existing", "failed", "away", "sending"] as const).map((phase) => ({
    state: { ...newUpload, phase },
  }));
  assert.equal(sumUp(all), "2 of 5 uploaded · 1 failed · 1 waiting");
});
