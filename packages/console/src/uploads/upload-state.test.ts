import assert from "node:assert/strict";
import { test } from "node:test";
import {
  isEnded,
  isUnderWay,
  newUpload,
  nextState,
  type Phase,
  type UploadEvent,
  type UploadState,
} from "./upload-state.ts";

const walk = (events: readonly UploadEvent[], from: UploadState = newUpload) => events.reduce(nextState, from);
const pause: UploadEvent = { type: "pause" };
const goOn: UploadEvent = { type: "goOn" };
const send = (bytes: number): UploadEvent => ({ type: "send", bytes });
const away: UploadEvent = { type: "break", isSignedOut: false };

const all: readonly UploadEvent[] = [
  { type: "check", bytes: 5 },
  send(7),
  away,
  pause,
  goOn,
  { type: "store" },
  { type: "import", recordingId: "rec_1" },
  { type: "exist", recordingId: "rec_1" },
  { type: "fail", problem: "No." },
  { type: "interrupt", problem: "Another file." },
];

test("a file is checked, sent, imported, and has its recording then", () => {
  const events: UploadEvent[] = [{ type: "check", bytes: 10 }, send(3), send(10), { type: "store" }];
  assert.equal(walk(events).phase, "importing");
  const imported = walk([...events, { type: "import", recordingId: "rec_1" }]);
  assert.deepEqual(imported, { phase: "imported", checkedBytes: 10, sentBytes: 10, recordingId: "rec_1" });
  assert.ok(isEnded(imported) && !isUnderWay(imported));
});

test("a break is over with the next byte, and one by the end of the session is named", () => {
  assert.equal(walk([send(3), away]).phase, "away");
  assert.equal(walk([send(3), { type: "break", isSignedOut: true }]).phase, "signedOut");
  assert.deepEqual(walk([send(3), away, send(4)]), { phase: "sending", checkedBytes: 0, sentBytes: 4 });
});

test("what a run that was paused still reports changes nothing", () => {
  const paused = walk([send(3), pause]);
  for (const late of all.filter(({ type }) => ["check", "send", "break", "store", "exist", "import"].includes(type)))
    assert.equal(nextState(paused, late), paused, late.type);
  assert.deepEqual(nextState(paused, goOn), { phase: "waiting", checkedBytes: 0, sentBytes: 3 });
});

test("a failure says why until it is tried again", () => {
  const failed = walk([send(3), { type: "fail", problem: "No." }]);
  assert.equal(failed.problem, "No.");
  assert.deepEqual(walk([goOn], failed), { phase: "waiting", checkedBytes: 0, sentBytes: 3 });
});

test("content that turns out to be here only while it is imported was here before", () => {
  assert.equal(walk([send(3), { type: "store" }, { type: "exist", recordingId: "rec_1" }]).phase, "existing");
});

test("an upload that has ended stays as it is", () => {
  for (const phase of ["imported", "existing"] satisfies Phase[]) {
    const ended: UploadState = { ...newUpload, phase };
    for (const event of all) assert.equal(nextState(ended, event), ended, `${event.type} after ${phase}`);
  }
});
