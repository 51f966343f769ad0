import assert from "node:assert/strict";
import { test } from "node:test";
import type { TrainingMapping } from "@downlink/protocol";
import type { TriedEpisode } from "./sum-up-parts.ts";
import { formatRange, formatShape, formatValue, outcomeOf, pullCommand, trimmedText } from "./training-texts.ts";

const episode: TriedEpisode = {
  ...{ episodeId: "ep_1", rowCount: 41, pieceCount: 1, trimmedStart: 0, trimmedEnd: 0, gaps: [], parts: [] },
};

test("values of a row are short, and long lists are cut", () => {
  assert.equal(formatValue([0.007255249, -0.264578, 12, 1234.567, null]), "0.00726, -0.265, 12, 1230, no number");
  assert.equal(formatValue("9007199254740993"), "9007199254740993");
  assert.equal(formatValue(Array(14).fill(1)), `${"1, ".repeat(12)}… 2 more`);
});

test("a range is one number where its ends look the same", () => {
  assert.equal(formatRange([10, 10.001], "Hz"), "10 Hz");
  assert.equal(formatRange([9.8, 10], "Hz"), "9.8–10 Hz");
  assert.equal(formatRange(undefined, "ms"), "—");
  assert.deepEqual([formatShape([240, 320, 3]), formatShape([])], ["240 × 320 × 3", "1"]);
});

test("the outcome of an episode names the worst first", () => {
  const textsOf = (more: Partial<TriedEpisode>, onGap?: TrainingMapping["onGap"]) => {
    const { text, reason } = outcomeOf({ ...episode, ...more }, onGap === undefined ? {} : { onGap });
    return [text, reason];
  };
  assert.deepEqual(textsOf({}), ["complete", undefined]);
  assert.deepEqual(textsOf({ pieceCount: 3 }), ["split into 3", undefined]);
  assert.deepEqual(textsOf({ pieceCount: 2, leftOut: "short" }), ["split into 2, some left out:", "short"]);
  assert.deepEqual(textsOf({ pieceCount: 0, leftOut: "short" }), ["left out:", "short"]);
  assert.deepEqual(textsOf({ pieceCount: 0, problem: "no topic" }), ["no set can be built:", "no topic"]);
  const gaps = [{ feature: "state", topic: "/imu", start: 0n, rowCount: 1 }];
  assert.deepEqual(textsOf({ pieceCount: 0, leftOut: "a gap", gaps }), ["no set can be built:", "a gap"]);
  assert.deepEqual(textsOf({ pieceCount: 0, leftOut: "a gap", gaps }, "dropEpisode"), ["left out:", "a gap"]);
  assert.deepEqual(textsOf({ pieceCount: 2, gaps }, "splitEpisode"), ["split into 2", undefined]);
  assert.equal(trimmedText({ ...episode, trimmedStart: 3, trimmedEnd: 1 }), "3 at the start, 1 at the end");
  assert.equal(trimmedText(episode), "—");
});

test("the command that fetches a set needs no quotes, whatever the dataset is called", () => {
  assert.equal(pullCommand("ts_01abcdef", "laps", 2), "dl training-set pull ts_01abcdef -o laps-2-abcdef");
  assert.equal(pullCommand("ts_1", "-rf ~/$(x) räum auf", 1), "dl training-set pull ts_1 -o rf-x-r-um-auf-1-ts_1");
  assert.equal(pullCommand("ts_1", "../..", 1), "dl training-set pull ts_1 -o dataset-1-ts_1");
});
