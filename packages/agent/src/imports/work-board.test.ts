import assert from "node:assert/strict";
import { test } from "node:test";
import type { EdgeWork, WantedImport } from "@downlink/protocol";
import { createWorkBoard } from "./work-board.ts";

function workAt(stage: WantedImport["stage"]): EdgeWork {
  const request = { requestId: "req_1", recordingId: "rec_1", versionId: "version-0000-0001", priority: 0 };
  return {
    imports: [{ ...request, stage, requestedAt: 1n }],
    salvages: [],
    settings: { enabled: true, retainRecordingsSeconds: 0, autoDeleteAfterImport: false },
  };
}

test("an end is acknowledged once, until the cloud speaks again", () => {
  const board = createWorkBoard();
  board.update(workAt("failed"));
  assert.deepEqual(board.unacknowledged(), ["req_1"]);
  board.acknowledged(["req_1"]);
  assert.deepEqual(board.unacknowledged(), []);
});

test("an import that was retried in the cloud ends again, and that is acknowledged too", () => {
  const board = createWorkBoard();
  board.update(workAt("failed"));
  board.acknowledged(["req_1"]);
  board.update(workAt("processing"));
  assert.deepEqual(board.unacknowledged(), []);
  board.update(workAt("imported"));
  assert.deepEqual(board.unacknowledged(), ["req_1"]);
});
