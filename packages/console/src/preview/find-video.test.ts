import assert from "node:assert/strict";
import { test } from "node:test";
import { findVideo } from "./find-video.ts";
import type { VideoRun } from "./h264.ts";
import { previewLimits } from "./limits.ts";

const KEY = Uint8Array.of(0, 0, 1, 0x67, 0x42, 0xe0, 0x0a, 0, 0, 1, 0x65, 0x88);
const OTHER = Uint8Array.of(0, 0, 1, 0x41, 0x9a);

/** A message for each letter: `k` has a key frame, `-` has another picture. */
const videoOf = (letters: string, format = "h264") =>
  [...letters].map((letter, timeNs) => ({ timeNs, read: () => ({ format, data: letter === "k" ? KEY : OTHER }) }));

test("a picture of a video is read from the last key frame on", () => {
  const messages = videoOf("k--k-");
  const runs = messages.map((_, place) => findVideo(messages, place).next().value!.read());
  assert.deepEqual(runs[2], { codec: "avc1.42e00a", frames: [KEY, OTHER, OTHER] });
  assert.deepEqual(runs[3], { codec: "avc1.42e00a", frames: [KEY] });
  assert.deepEqual(runs[4], { codec: "avc1.42e00a", frames: [KEY, OTHER] });
});

test("a part that begins within a group of pictures shows its first key frame", () => {
  const [here, next, ...others] = findVideo(videoOf("--k-k"), 1);
  assert.throws(() => here!.read(), { message: "No key frame of the video comes before it in this part." });
  assert.equal(next!.timeNs, 2);
  assert.deepEqual(next!.read(), { codec: "avc1.42e00a", frames: [KEY] });
  assert.deepEqual(others, []);
  assert.equal([...findVideo(videoOf("--"), 1)].length, 1);
});

test("no more pictures than the limit are read for one, and other formats are named", () => {
  const most = previewLimits.videoFrames;
  const long = videoOf(`k${"-".repeat(most)}`);
  const readAt = (place: number) => [...findVideo(long, place)][0]!.read();
  assert.equal((readAt(most - 1) as VideoRun).frames.length, most);
  assert.throws(() => readAt(most), /among the 300 pictures/);
  const [other] = findVideo(videoOf("k", "h265"), 0);
  assert.throws(() => other!.read(), { message: "The video is h265; only h264 can be shown." });
});
