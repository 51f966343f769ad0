import assert from "node:assert/strict";
import { test } from "node:test";
import { TrainingMapping } from "@downlink/protocol";
import { sumUpParts, type TriedEpisode } from "./sum-up-parts.ts";

const mapping = TrainingMapping.parse({
  fps: 10,
  features: {
    state: { dtype: "float32", parts: [{ topic: "/imu", field: "a" }, { topic: "/imu" }] },
    front: { dtype: "image", parts: [{ topic: "/camera" }] },
  },
});

const part = (feature: string, topic: string, more: Partial<TriedEpisode["parts"][number]> = {}) => ({
  ...{ feature, topic, messageCount: 10, withoutValue: 0, shape: [3], ...more },
});

const episode = (...parts: TriedEpisode["parts"]): TriedEpisode => ({
  ...{ episodeId: "ep_1", rowCount: 0, pieceCount: 0, trimmedStart: 0, trimmedEnd: 0, gaps: [], parts },
});

test("parts are summed up over the episodes, each with the field that the mapping names", () => {
  const first = episode(
    part("state", "/imu", { medianRateHz: 100, greatestGapMs: 10 }),
    part("state", "/imu", { medianRateHz: 100, greatestGapMs: 10 }),
    part("front", "/camera"),
  );
  const second = episode(
    part("state", "/imu", { medianRateHz: 98, greatestGapMs: 700, withoutValue: 2, reason: "it is a text" }),
    part("state", "/imu", { medianRateHz: 100, greatestGapMs: 10 }),
    part("front", "/camera", { schemaName: "Image" }),
  );
  const unknown = { schemaName: undefined, rateHz: undefined, gapMs: undefined, reason: undefined };
  const none = { ...unknown, withoutValue: 0, columns: [] };
  assert.deepEqual(sumUpParts([episode(), first, second], mapping), [
    {
      ...{ feature: "state", topic: "/imu", field: "a", schemaName: undefined, messageCount: 20 },
      ...{ rateHz: [98, 100], gapMs: [10, 700], withoutValue: 2, reason: "it is a text", columns: [] },
    },
    {
      ...none,
      ...{ feature: "state", topic: "/imu", field: undefined, messageCount: 20, rateHz: [100, 100], gapMs: [10, 10] },
    },
    { ...none, feature: "front", topic: "/camera", field: undefined, messageCount: 20, schemaName: "Image" },
  ]);
  assert.deepEqual(sumUpParts([episode()], mapping), []);
});
