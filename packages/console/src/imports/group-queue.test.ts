import assert from "node:assert/strict";
import { test } from "node:test";
import type { QueuedImport } from "@downlink/protocol";
import { groupQueue, shareReceived, withReason } from "./group-queue.ts";

const offline = { code: "DeviceOffline", text: "The agent has not been heard of." } as const;
const behind = { code: "BehindOthers", text: "1 other files of the same agent come first." } as const;

function entry(more: Partial<QueuedImport>): QueuedImport {
  return {
    requestId: "req_1",
    projectId: "prj_1",
    device: { id: "dev_1", name: "rover-1" },
    path: "a.mcap",
    size: 1000,
    priority: 0,
    requestedAt: 0n,
    state: "waiting",
    bytesReceived: 0,
    ...more,
  };
}

test("what waits is grouped by its device in the order of the queue, and what no device has by its edge site", () => {
  const other = { id: "dev_2", name: "rover-2" };
  const depot = { id: "sit_1", name: "depot" };
  const groups = groupQueue([
    entry({ device: other }),
    entry({}),
    entry({ device: undefined, edgeSite: depot }),
    entry({ device: other }),
  ]);
  assert.deepEqual(
    groups.map(({ name, entries, isDevice }) => [name, entries.length, isDevice]),
    [
      ["rover-2", 2, true],
      ["rover-1", 1, true],
      ["depot", 1, false],
    ],
  );
});

test("the rest of a group takes what is not here yet at the rate of all its uploads, and nothing is guessed while none moves", () => {
  const moving = { state: "uploading", bytesReceived: 400, bytesPerSecond: 100 } as const;
  const [group] = groupQueue([entry(moving), entry(moving), entry({ waitsFor: behind })]);
  assert.deepEqual([group!.bytesLeft, group!.bytesPerSecond, group!.secondsLeft], [2200, 200, 11]);
  assert.equal(groupQueue([entry({ bytesPerSecond: 100 })])[0]!.secondsLeft, undefined);
});

test("a group says once what all of it waits for, and nothing where the reasons differ or one file moves", () => {
  const reasonOf = (...entries: QueuedImport[]) => groupQueue(entries)[0]!.waitsFor?.code;
  assert.equal(reasonOf(entry({ waitsFor: offline }), entry({ waitsFor: behind })), "DeviceOffline");
  assert.equal(reasonOf(entry({ waitsFor: behind })), undefined);
  const full = { code: "StorageFull", text: "Full." } as const;
  assert.equal(reasonOf(entry({ waitsFor: offline }), entry({ waitsFor: full })), undefined);
  assert.equal(reasonOf(entry({ waitsFor: offline }), entry({ state: "uploading" })), undefined);
});

test("more bytes than the size never show as more than all, and an unknown size shows as no share", () => {
  assert.equal(shareReceived({ size: 10, bytesReceived: 5 }), 0.5);
  assert.equal(shareReceived({ size: 10, bytesReceived: 50 }), 1);
  assert.equal(shareReceived({ size: undefined, bytesReceived: 5 }), undefined);
  assert.equal(shareReceived({ size: 0, bytesReceived: 0 }), undefined);
});

test("a reason keeps what waits for it", () => {
  const entries = [entry({ waitsFor: offline }), entry({ waitsFor: behind }), entry({})];
  assert.equal(withReason(entries, "DeviceOffline").length, 1);
  assert.equal(withReason(entries, "").length, 3);
});
