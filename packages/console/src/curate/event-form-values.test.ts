import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventType } from "@downlink/protocol";
import { type EventFields, readEvent, readMetadata, writeMetadata } from "./event-form-values.ts";

const properties: EventType["properties"] = [
  { key: "speed", label: "Speed", required: true, valueType: "number" },
  { key: "ok", label: "OK", required: false, valueType: "boolean" },
  { key: "zones", label: "Zones", required: false, valueType: "multi-enum", values: ["a", "b"] },
];
const type = { id: "evtt_1", name: "stop", properties } as unknown as EventType;
const options = { type, zone: "UTC", nowMs: Date.UTC(2026, 3, 14, 12) };
const fields: EventFields = {
  ...{ deviceName: " rover-1 ", start: "2026-04-14 03:00", end: "", eventTypeId: "evtt_1" },
  ...{ metadata: "reason: estop\n note: a: b ", properties: { speed: "1.5", zones: "a, b", old: "x" } },
};

test("a form becomes an event: without an end it is a moment, and only the properties of its type count", () => {
  const { event, problems } = readEvent(fields, options);
  assert.deepEqual(problems, {});
  assert.equal(event!.start, event!.end);
  assert.equal(event!.deviceName, "rover-1");
  assert.deepEqual(event!.metadata, { reason: "estop", note: "a: b" });
  assert.deepEqual(event!.properties, { speed: 1.5, ok: null, zones: ["a", "b"] });
});

test("everything that does not fit is named by its field, and nothing is sent", () => {
  const broken = { ...fields, deviceName: "", start: "soon", metadata: "estop", properties: { speed: "fast" } };
  const { event, problems } = readEvent(broken, options);
  assert.equal(event, undefined);
  assert.deepEqual(Object.keys(problems).sort(), ["deviceName", "metadata", "property speed", "start"]);
  const missing = readEvent({ ...fields, properties: {}, end: "2026-04-14 02:59" }, options).problems;
  assert.match(missing["property speed"]!, /required/);
  assert.match(missing.end!, /before the start/);
  const ended = readEvent({ ...fields, start: "", end: "soon" }, options).problems;
  assert.ok(ended.start && ended.end, "each of two wrong times is named");
});

test("metadata is written as it is read, and a key named __proto__ is a key like any other", () => {
  const metadata = { a: "1", "b c": "x: y" };
  assert.deepEqual(readMetadata(writeMetadata(metadata)), metadata);
  assert.deepEqual(Object.entries(readMetadata("__proto__: 1") as object), [["__proto__", "1"]]);
});
