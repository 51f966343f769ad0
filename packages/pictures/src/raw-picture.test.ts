import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { decode } from "fast-png";
import { readRawPicture } from "./raw-picture.ts";

const encodings = {
  rgb8: [3, [0, 1, 2]],
  bgr8: [3, [2, 1, 0]],
  rgba8: [4, [0, 1, 2]],
  bgra8: [4, [2, 1, 0]],
  mono8: [1, [0, 0, 0]],
} as const;

test("a PNG has the colours of the pixels, whatever their order and however their rows are filled up", () => {
  const size = fc.integer({ min: 1, max: 9 });
  const given = fc.record({
    encoding: fc.constantFrom(...(Object.keys(encodings) as (keyof typeof encodings)[])),
    width: size,
    height: size,
    filled: fc.nat(5),
    seed: fc.nat(255),
  });
  fc.assert(
    fc.property(given, ({ encoding, width, height, filled, seed }) => {
      const [pixelBytes, places] = encodings[encoding];
      const step = width * pixelBytes + filled;
      const data = Uint8Array.from({ length: step * height }, (_, at) => (at * 37 + seed) % 256);
      const png = decode(readRawPicture({ encoding, width, height, step, data })!.toPng());
      assert.deepEqual([png.width, png.height, png.channels, png.depth], [width, height, 3, 8]);
      const wanted = Array.from({ length: width * height }, (_, pixel) => {
        const from = Math.floor(pixel / width) * step + (pixel % width) * pixelBytes;
        return places.map((place) => data[from + place]!);
      });
      assert.deepEqual([...png.data], wanted.flat());
    }),
  );
});

test("a message without an encoding is of another kind, and one that is wrong is refused with a sentence", () => {
  assert.equal(readRawPicture({ format: "jpeg", data: new Uint8Array() }), undefined);
  const whole = { encoding: "rgb8", width: 2, height: 2, step: 6, data: new Uint8Array(12) };
  assert.ok(readRawPicture(whole));
  for (const [wrong, sentence] of [
    [{ encoding: "bayer_rggb8" }, /has pixels in bayer_rggb8/],
    [{ width: 0 }, /0 × 2 pixels/],
    [{ width: 2 ** 20, height: 2 ** 20 }, /pixels in rows of 6 bytes/],
    [{ step: 5 }, /rows of 5 bytes/],
    [{ data: new Uint8Array(11) }, /has 11 bytes/],
  ] as const)
    assert.throws(() => readRawPicture({ ...whole, ...wrong }), { name: "DecodeError", message: sentence });
});
