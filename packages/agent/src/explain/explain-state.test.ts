import assert from "node:assert/strict";
import { test } from "node:test";
import { type FileState, fileStates } from "../inventory/file-state.ts";
import { healthyStatus, problem, sampleTimeMs } from "../testing/sample-status.ts";
import { explainState, type FileFacts } from "./explain-state.ts";

const facts: FileFacts = {
  path: "cam/one.mcap",
  state: "requested",
  reason: null,
  reasonCode: null,
  outcome: null,
  isRequestedHere: false,
  away: null,
  isAutoImported: false,
  settleTimeMs: 2000,
  incompleteAfterMs: 600_000,
  status: healthyStatus,
  nowMs: sampleTimeMs,
};

test("every state of a file has a cause and says what happens next", () => {
  for (const state of fileStates) {
    const { why, next, todo } = explainState({ ...facts, state });
    for (const text of [why, next, todo ?? "None."]) assert.match(text, /^[A-Z].*[.)]$/s, `${state}: ${text}`);
  }
});

test("a fault of the file itself is explained in the words of its examination", () => {
  const reason = "The file ends at byte 5000 without a footer.";
  for (const state of ["settling", "incomplete", "damaged", "unreadable"] as const)
    assert.equal(explainState({ ...facts, state, reason }).why, reason);
});

test("a file that is compressed as a whole is to be decompressed, and not to be repaired", () => {
  const { todo } = explainState({ ...facts, state: "damaged", reasonCode: "CompressedFile", reason: "It is packed." });
  assert.match(todo!, /Decompress it/);
  assert.doesNotMatch(todo!, /recover|reindex/);
});

test("no glob is recommended for a file that was deleted in the control plane, but one is for a file that nobody requested", () => {
  const explain = (outcome: FileFacts["outcome"]) => explainState({ ...facts, state: "reported", outcome }).todo;
  assert.doesNotMatch(explain({ code: "DataDeleted", text: "its data was deleted" })!, /AUTO_IMPORT/);
  assert.match(explain(null)!, /AUTO_IMPORT/);
});

test("a running upload shows its progress and when it will end", () => {
  const { why, next } = explainState({ ...facts, state: "uploading" });
  assert.equal(why, "It is being uploaded: 450 B of 1.0 kB, 12.3 MB/s.");
  assert.equal(next, "It is uploaded in 2 min.");
});

test("a file that its import found damaged is not to be sent again, but to be salvaged where its bytes are", () => {
  const damaged = { code: "BadChunk", text: "the chunk at byte 8 does not decompress" };
  const explain = (outcome: FileFacts["outcome"]) => explainState({ ...facts, state: "failed", outcome });
  const { todo } = explain(damaged);
  assert.match(todo!, /salvage its failed import in the control plane/);
  assert.doesNotMatch(todo!, /retry/);
  assert.doesNotMatch(explain({ code: "NameTooLong", text: "x" }).todo!, /retry/);
  assert.match(explain({ code: "KeyTaken", text: "x" }).todo!, /agent retry FILE/);
});

test("a failed upload shows how often it failed, why, and when it is tried again", () => {
  const retry = {
    path: facts.path,
    failures: 3,
    lastError: "cannot reach x: ECONNRESET",
    nextTryAt: "2026-01-02T03:04:47Z",
  };
  const explained = explainState({ ...facts, status: { ...healthyStatus, retries: [retry] } });
  assert.equal(explained.lastAttempt, "cannot reach x: ECONNRESET (3 tries failed)");
  assert.equal(explained.next, "It is tried again in 42 s.");
});

test("for a file that is away, explain says on which card it is, what happened to it in the control plane, and what needs the card", () => {
  const explain = (before: FileFacts["state"], more: Partial<FileFacts> = {}) =>
    explainState({ ...facts, state: "away", away: { card: "abcdef", since: "2026-01-02T03:04:05Z", before }, ...more });
  const place = "It is on the card …abcdef, which was taken out at 2026-01-02T03:04:05Z. ";
  const copy = { code: "DuplicateContent", text: "another recording has it" };
  const failure = { code: "KeyTaken", text: "the key is taken" };
  assert.equal(explain("requested").why, `${place}Its import was asked for, and waits for the card.`);
  assert.match(
    explain("requested").todo ?? "",
    /Put the card back in.*ends in abcdef, and the file is cam\/one\.mcap on it/,
  );
  assert.equal(explain("imported").why, `${place}It is in the control plane.`);
  assert.match(explain("duplicate", { outcome: copy }).why, /in the control plane already.*Another recording has it\./);
  assert.match(explain("failed", { outcome: failure }).why, /failed: The key is taken\. \(KeyTaken\)$/);
  const requested = explain("reported", { isRequestedHere: true });
  assert.match(requested.next, /asked for on this device/);
  assert.match(requested.why, /somebody on this device asked for it/);
  assert.doesNotMatch(requested.why, /nobody/);
  assert.match(explain("reported").next, /For an upload its card has to be in\.$/);
  assert.match(explain("settling").why, /Before that it was settling\.$/);
});

test("paused uploads show what paused them, until when, and which setting changes it", () => {
  const throttle = {
    ...healthyStatus.throttle,
    isPaused: true,
    text: "the upload rate is off",
    until: "2026-01-02T18:00:00Z",
  };
  const explained = explainState({ ...facts, status: { ...healthyStatus, throttle } });
  assert.match(explained.why, /paused: the upload rate is off/);
  assert.match(explained.next, /2026-01-02T18:00:00Z/);
  assert.match(explained.todo!, /DOWNLINK_UPLOAD_RATE/);
});

test("a problem of the whole agent explains exactly the files that it stops", () => {
  const stopped: [Parameters<typeof problem>[0], FileState[]][] = [
    ["StorageMissing", ["seen", "settling", "unreadable", "indexed", "requested", "uploading"]],
    ["CloudUnreachable", ["indexed", "requested", "uploading"]],
    ["TokenRefused", ["indexed", "requested", "uploading"]],
    ["DeviceDisabled", ["requested", "uploading"]],
    ["CloudStorageFull", ["requested", "uploading"]],
  ];
  for (const [code, states] of stopped) {
    const status = { ...healthyStatus, problems: [problem(code, "the detail")] };
    const affected = fileStates.filter((state) => explainState({ ...facts, state, status }).problems.includes(code));
    assert.deepEqual(
      affected,
      states.toSorted((a, b) => fileStates.indexOf(a) - fileStates.indexOf(b)),
      code,
    );
    assert.match(explainState({ ...facts, status }).why, /the detail/);
  }
});

test("without an agent a file that waits for one explains how to start it; a finished one does not", () => {
  const status = { ...healthyStatus, health: "not running" as const };
  assert.match(explainState({ ...facts, status }).todo!, /agent run/);
  assert.equal(explainState({ ...facts, state: "imported", status }).todo, null);
});
