import assert from "node:assert/strict";
import { test } from "node:test";
import { codecOf, isKeyFrame, listNalUnits } from "./h264.ts";

const SEQUENCE = [0, 0, 0, 1, 0x67, 0x42, 0xe0, 0x0a, 0x8c];
const PICTURE_SET = [0, 0, 1, 0x68, 0xce];
const KEY = [0, 0, 1, 0x65, 0x88, 1, 0, 1];
const SLICE = [0, 0, 0, 1, 0x41, 0x9a];

test("NAL units are found after start codes of three and of four bytes, and nowhere else", () => {
  const bytes = Uint8Array.from([...SEQUENCE, ...PICTURE_SET, ...KEY, ...SLICE, 0, 0, 1]);
  const types = [...listNalUnits(bytes)].map(({ type, at }) => [type, at]);
  assert.deepEqual(types, [
    [7, 4],
    [8, 12],
    [5, 17],
    [1, 26],
  ]);
  assert.deepEqual([...listNalUnits(Uint8Array.of(1, 0, 1))], []);
  assert.deepEqual([...listNalUnits(new Uint8Array())], []);
});

test("a picture is a key frame by its first slice, and its sequence names the codec", () => {
  const [key, other] = [[...SEQUENCE, ...PICTURE_SET, ...KEY], SLICE].map((bytes) => Uint8Array.from(bytes));
  assert.deepEqual([isKeyFrame(key!), isKeyFrame(other!)], [true, false]);
  assert.equal(isKeyFrame(Uint8Array.from([...SEQUENCE, ...SLICE, ...KEY])), false);
  assert.equal(isKeyFrame(Uint8Array.from(SEQUENCE)), false);
  assert.equal(codecOf(key!), "avc1.42e00a");
  assert.equal(codecOf(other!), undefined);
  assert.equal(codecOf(Uint8Array.from(SEQUENCE.slice(0, 7))), undefined, "the sequence is cut");
});
