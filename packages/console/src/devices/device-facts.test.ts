import assert from "node:assert/strict";
import { test } from "node:test";
import type { EdgeAgent } from "@downlink/protocol";
import { countFiles, diskUsed, standingOf, uploadRateOf } from "./device-facts.ts";
import { healthSentence, skewText } from "./health.ts";

const NOW_MS = Date.UTC(2026, 3, 14, 12);
const problem = { code: "ClockSkew", text: "The clock is wrong.", since: 0n };

function agent(more: Partial<EdgeAgent> = {}, status: Partial<NonNullable<EdgeAgent["status"]>> = {}): EdgeAgent {
  const lastSeenAt = BigInt(NOW_MS - 9 * 86_400_000) * 1_000_000n;
  return {
    online: true,
    lastSeenAt,
    version: "1",
    cloned: false,
    status: { files: {}, problems: [], ...status },
    ...more,
  };
}

test("files are counted by what is imported and what has the content of another, and of a silent agent nothing is guessed", () => {
  const files = { imported: 4, duplicate: 1, reported: 10, incomplete: 2, unreadable: 1, "new state": 5 };
  assert.deepEqual(countFiles({ agent: agent({}, { files }) }), { onDevice: 23, imported: 5, duplicate: 1 });
  assert.equal(countFiles({ agent: undefined }), undefined);
  const transfers = [{ recordingId: "rec_1", sentBytes: 1, bytesPerSecond: 70 }];
  assert.equal(uploadRateOf({ agent: agent({}, { transfers: [...transfers, ...transfers] }) }), 140);
  assert.equal(uploadRateOf({ agent: agent({ online: false }, { transfers }) }), undefined);
});

test("a disk of no size, or with more free than it has, is drawn as far as it makes sense", () => {
  const used = (totalBytes: number, freeBytes: number) =>
    diskUsed({ agent: agent({}, { disk: { totalBytes, freeBytes } }) });
  assert.deepEqual([used(100, 25), used(0, 0), used(100, 200)], [0.75, undefined, 0]);
});

test("the gravest state of a device is the one that is said", () => {
  const troubled = agent({}, { problems: [problem] });
  const standings = [
    standingOf({ enabled: true, agent: undefined }),
    standingOf({ enabled: false, agent: { ...troubled, cloned: true, online: false } }),
    standingOf({ enabled: false, agent: agent({ online: false }) }),
    standingOf({ enabled: true, agent: { ...troubled, online: false } }),
    standingOf({ enabled: true, agent: troubled }),
    standingOf({ enabled: true, agent: agent() }),
  ];
  assert.deepEqual(standings, ["never", "cloned", "disabled", "silent", "troubled", "well"]);
});

test("the sentence says since when a device is silent, how many problems it has, and what holds it back", () => {
  const say = (one: EdgeAgent | undefined) => healthSentence({ enabled: true, agent: one }, NOW_MS);
  assert.equal(say(agent({ online: false })), "Silent: its agent last made contact 9 days ago.");
  assert.equal(say(agent({}, { problems: [problem, problem] })), "Online, with 2 problems.");
  assert.equal(say(agent({}, { files: { imported: 2 } })), "Online, without problems; everything on it is imported.");
  assert.equal(say(agent({}, { files: { imported: 2, reported: 1 } })), "Online, without problems.");
  assert.match(say(agent({}, { throttle: { reason: "paused on the device" } })), /held back: paused on the device/);
  assert.match(say(undefined), /has ever connected/);
});

test("a clock is only spoken of if it is wrong by seconds", () => {
  assert.deepEqual(
    [skewText(-128), skewText(undefined), skewText(-90_000), skewText(3500)],
    [undefined, undefined, "1 min 30 s slow", "3.5 s fast"],
  );
});
