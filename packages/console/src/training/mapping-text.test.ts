import assert from "node:assert/strict";
import { test } from "node:test";
import { TrainingMapping } from "@downlink/protocol";
import { formatMapping, readMapping } from "./mapping-text.ts";

const mapping = TrainingMapping.parse({
  fps: 10,
  clock: { grid: true },
  features: {
    "observation.state": {
      dtype: "float32",
      parts: [
        { topic: "/imu", field: "rate", select: [0, 2] },
        { topic: "/imu", field: "linear_acceleration" },
      ],
    },
    action: { dtype: "float32", parts: [{ topic: "/imu" }] },
  },
});

test("a mapping is written with what is short in one line, and is read as it was", () => {
  const text = formatMapping(mapping);
  assert.equal(
    text,
    `{
  "fps": 10,
  "clock": { "grid": true },
  "features": {
    "observation.state": {
      "dtype": "float32",
      "parts": [
        { "topic": "/imu", "field": "rate", "select": [0, 2] },
        { "topic": "/imu", "field": "linear_acceleration" }
      ]
    },
    "action": { "dtype": "float32", "parts": [{ "topic": "/imu" }] }
  }
}`,
  );
  assert.deepEqual(readMapping(text), { mapping, faults: [] });
});

test("a field that is not set is not written, and neither is a name or a text ever changed", () => {
  const odd = { ...mapping, stamp: undefined, robotType: 'a "b"\n{}' };
  const text = formatMapping(odd);
  assert.ok(!text.includes("stamp"));
  assert.equal(readMapping(text).mapping?.robotType, odd.robotType);
});

test("the faults of a mapping are named by their paths in the words of the service", () => {
  const features = { state: { dtype: "int64", parts: [{ topic: "/a", align: "interpolate" }] } };
  assert.deepEqual(readMapping(JSON.stringify({ fps: 0, features })), {
    mapping: undefined,
    faults: [
      { path: "mapping.fps", message: "must be at least 1" },
      {
        path: "mapping.features.state.parts.0.align",
        message: "must be hold or nearest, unless the dtype is a float",
      },
    ],
  });
  const task = { text: "x".repeat(1000) };
  const many = Object.fromEntries(
    Array.from({ length: 70 }, (_, place) => [`f${place}`, { dtype: "bool", parts: [{ topic: "/a".repeat(499) }] }]),
  );
  assert.deepEqual(readMapping(JSON.stringify({ fps: 1, task, features: many })).faults, [
    { path: "mapping", message: "must have at most 65536 characters as JSON" },
  ]);
  assert.deepEqual(readMapping("7").faults, [{ path: "mapping", message: "must be an object" }]);
});

test("a text that is no JSON is named with the place where it ends to be some", () => {
  const { mapping: none, faults } = readMapping('{\n  "fps": 10,\n}');
  assert.equal(none, undefined);
  assert.match(faults[0]!.message, /^This is no JSON: .*line 3 column 1/);
  assert.deepEqual(readMapping(" ").faults, [{ path: "", message: "There is no mapping yet." }]);
});
