import assert from "node:assert/strict";
import { test } from "node:test";
import type { Value } from "@downlink/messages/value";
import { collectStates } from "./collect-states.ts";

function collect(messages: readonly Value[]) {
  const states = collectStates();
  for (const [index, message] of messages.entries()) states.add(message, index);
  return states.finish();
}

test("diagnostics have a lane for each name, the worst first, with a run for each change", () => {
  const of = (motor: number, message: string) => ({
    status: [
      { name: "battery", level: 0, message: "full" },
      { name: "motor", level: motor, message },
    ],
  });
  const { lanes, leftOut } = collect([of(0, "fine"), of(0, "fine"), of(2, "hot"), of(1, "warm")]);
  assert.equal(leftOut, 0);
  assert.deepEqual(lanes, [
    {
      name: "motor",
      runs: [
        { startNs: 0, text: "fine", level: 0 },
        { startNs: 2, text: "hot", level: 2 },
        { startNs: 3, text: "warm", level: 1 },
      ],
      worst: 2,
    },
    { name: "battery", runs: [{ startNs: 0, text: "full", level: 0 }], worst: 0 },
  ]);
});

test("a part that is stale is worse than a warning and less than an error", () => {
  const worst = (levels: number[]) =>
    collect(levels.map((level) => ({ status: [{ name: "a", level }] }))).lanes[0]!.worst;
  assert.deepEqual([worst([1, 3]), worst([3, 2]), worst([9])], [3, 2, 0]);
  const names = ["fine", "warned", "failed", "stale"];
  const { lanes } = collect([{ status: names.map((name, level) => ({ name, level })) }]);
  assert.deepEqual(
    lanes.map(({ name }) => name),
    ["failed", "stale", "warned", "fine"],
  );
});

test("texts and truths have a lane for each field, beside the header", () => {
  const message = (data: string, isOn: boolean) => ({ header: { frame_id: "map" }, data, door: { isOn }, speed: 5 });
  assert.deepEqual(collect([message("idle", false), message("drive", false)]).lanes, [
    {
      name: "data",
      runs: [
        { startNs: 0, text: "idle" },
        { startNs: 1, text: "drive" },
      ],
    },
    { name: "door.isOn", runs: [{ startNs: 0, text: "false" }] },
  ]);
});

test("however many names and changes there are, and whatever a message is, a bounded number is kept", () => {
  const names = Array.from({ length: 1000 }, (_, at) => ({ name: `${at}`, level: 0, message: "a".repeat(10_000) }));
  const { lanes, leftOut } = collect([{ status: names }]);
  assert.deepEqual([lanes.length, leftOut, lanes[0]!.runs[0]!.text.length], [200, 800, 201]);
  assert.equal(collect(Array.from({ length: 3000 }, (_, at) => ({ data: `${at}` }))).leftOut, 1000);
  assert.deepEqual(collect([null, 5, [1], { status: [null, 7, []] }]).lanes.length, 1);
});
