import assert from "node:assert/strict";
import { test } from "node:test";
import type { QueuedImport, RecordingCut } from "@downlink/protocol";
import { ImportStatus, WaitReason } from "@downlink/protocol";
import { describeDamage, describeState } from "./recording-state.ts";

const NOW = 1_800_000_000_000;
const at = (secondsAgo: number) => BigInt(NOW - secondsAgo * 1000) * 1_000_000n;
const queued: QueuedImport = {
  requestId: "imr_1",
  projectId: "prj_1",
  path: "a.mcap",
  size: 1_000_000,
  priority: 0,
  requestedAt: at(60),
  position: 3,
  state: "waiting",
  bytesReceived: 0,
};
const pending = { importStatus: "pending" } as const;

test("every status has a sentence", () => {
  for (const importStatus of ImportStatus.options)
    assert.match(describeState({ importStatus }, undefined, NOW).text, /^[A-Z].*[.n]$/);
  const device = { id: "dev_1", name: "rover-2" };
  assert.equal(describeState({ importStatus: "none", device }, undefined, NOW).text, "Only rover-2 has it.");
  const cut: RecordingCut = {
    id: "cut_1",
    topics: ["/imu"],
    start: at(60),
    end: at(50),
    importStatus: "complete",
  };
  const withCuts = (...cuts: RecordingCut[]) =>
    describeState({ importStatus: "none", device, cuts }, undefined, NOW).text;
  assert.equal(withCuts({ ...cut, importStatus: "pending" }), "Only rover-2 has it.");
  assert.equal(
    withCuts(cut, { ...cut, importStatus: "failed" }),
    "Only rover-2 has all of it. One part of it is here.",
  );
  assert.equal(withCuts(cut, cut), "Only rover-2 has all of it. 2 parts of it are here.");
  const cutOf = { recordingId: "rec_1", topics: ["/imu"], start: at(60), end: at(50) };
  const left = describeState({ importStatus: "none", device, cutOf }, undefined, NOW);
  assert.equal(left.text, "Its data is not here.");
  assert.match(left.fix!, /the whole recording/);
  const silent = { importStatus: "none", device, agent: { online: false, lastSeenAt: at(7200) } } as const;
  assert.equal(
    describeState(silent, undefined, NOW).text,
    "Only rover-2 has it. It is silent: its agent last made contact 2 hours ago (2027-01-15 06:00:00 UTC). An import begins once it is back.",
  );
  const failure = { code: "Truncated", text: "The file ends within a chunk." };
  const failed = describeState({ importStatus: "failed", failure }, undefined, NOW);
  assert.equal(failed.text, "Its import failed: The file ends within a chunk.");
  assert.match(failed.fix!, /Truncated/);
  assert.equal(
    describeState({ importStatus: "complete", importedAt: at(7200) }, undefined, NOW).text,
    "Its data is here since 2027-01-15 06:00:00 UTC (2 hours ago).",
  );
  const unavailable = { reason: "nothing is heard of its self-hosted site", since: at(660) };
  assert.match(
    describeState({ importStatus: "complete", unavailable }, undefined, NOW).text,
    /^Its data is here\. It cannot be read since .* \(11 minutes ago\): nothing is heard of its self-hosted site\. It comes back/,
  );
});

test("data that is damaged in the store is called so in each status, with what repairs it", () => {
  const storedDamage = { reason: "altered", since: at(660) } as const;
  const begin =
    /^Its data in the store is not what was imported, as was found 11 minutes ago \(.*\): it cannot be opened\. /;
  for (const importStatus of ["pending", "importing", "failed", "complete"] as const)
    assert.match(describeState({ importStatus, storedDamage }, undefined, NOW).text, begin);
  const failed = describeState({ importStatus: "failed", storedDamage }, undefined, NOW);
  assert.equal(failed.fix, "Request its import, or upload the same file.");
});

test("whatever an import waits for is said, with what to do, until when, and its place", () => {
  for (const code of WaitReason.options) {
    const waitsFor = { code, text: "Its device is off", fix: "Switch it on", until: at(-3600) };
    assert.deepEqual(describeState(pending, { ...queued, waitsFor }, NOW), {
      text: "Its import was requested and waits: Its device is off. That ends in 1 hour (2027-01-15 09:00:00 UTC). It is number 3 in the queue of its device.",
      fix: "Switch it on.",
    });
  }
});

test("an upload under way says how much is here, how fast it is, and how long it will take", () => {
  const uploading = { ...queued, state: "uploading", bytesReceived: 630_000, bytesPerSecond: 10_000 } as const;
  assert.equal(
    describeState(pending, uploading, NOW).text,
    "It is on its way: 63 %, 630 kB of 1.0 MB at 10 kB/s, about 37 s more.",
  );
  const unknown = { ...uploading, size: undefined, bytesPerSecond: undefined };
  assert.equal(describeState(pending, unknown, NOW).text, "It is on its way: 630 kB.");
});

test("damage says what was lost, and that it may be more where that is not known", () => {
  const none = { chunksLost: 0, messagesLost: 0, isCountKnown: true, attachmentsLost: 0, bytesLost: 0, reasons: [] };
  assert.match(describeDamage(none), /nothing of its data was lost/);
  const lost = { ...none, chunksLost: 2, messagesLost: 1200, isCountKnown: false, bytesLost: 5_000_000 };
  assert.match(describeDamage(lost), /2 chunks, at least 1,200 messages \(5\.0 MB\) cannot be read/);
  const unproved = describeDamage({ ...none, messagesGuessed: 1200, messagesDoubted: 5 });
  assert.match(unproved, /1,200 messages were read from incomplete chunks.* 5 messages have impossible times/);
});
