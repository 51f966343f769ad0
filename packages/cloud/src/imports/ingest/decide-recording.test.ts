import assert from "node:assert/strict";
import { test } from "node:test";
import { decideRecording } from "./decide-recording.ts";

const content = "a".repeat(64);
const other = "b".repeat(64);
const first = { id: "rec_1", key: "k1", contentSha256: content, path: "day/one.mcap" };
const keyless = { id: "rec_2", key: null, contentSha256: content, path: undefined };
const upload = { isEdge: false, key: undefined, contentSha256: content, sameKey: undefined, sameContent: undefined };

test("a file that resembles no recording is a new recording", () => {
  assert.deepEqual(decideRecording(upload), { kind: "new" });
  assert.deepEqual(decideRecording({ ...upload, isEdge: true, key: "k9" }), { kind: "new" });
});

test("same key and same content is the existing recording", () => {
  assert.deepEqual(decideRecording({ ...upload, key: "k1", sameKey: first, sameContent: first }), {
    kind: "existing",
    recordingId: "rec_1",
  });
});

test("same key and other content fails the import", () => {
  const decision = decideRecording({ ...upload, key: "k1", contentSha256: other, sameKey: first });
  assert.equal(decision.kind === "reject" && decision.code, "KeyTaken");
});

test("same device and same content under another key is rejected, naming the first", () => {
  const decision = decideRecording({ ...upload, key: "k2", sameContent: first });
  assert.equal(decision.kind === "reject" && decision.code, "DuplicateContent");
  assert.match(decision.kind === "reject" ? decision.text : "", /rec_1 \(day\/one\.mcap\)/);
});

test("a repeated upload without a key for the same device is the existing recording", () => {
  assert.deepEqual(decideRecording({ ...upload, sameContent: keyless }), { kind: "existing", recordingId: "rec_2" });
});

test("importing a copy at the edge fails with DuplicateContent, naming the first", () => {
  for (const known of [{ sameContent: keyless }, { sameKey: first, sameContent: first, key: "k1" }]) {
    const decision = decideRecording({ ...upload, ...known, isEdge: true });
    assert.equal(decision.kind === "reject" && decision.code, "DuplicateContent");
  }
});
