import assert from "node:assert/strict";
import { test } from "node:test";
import type { Value } from "@downlink/messages/value";
import fc from "fast-check";
import { readRawImage } from "./raw-image.ts";

const [RED, GREEN, BLUE, WHITE, BLACK] = [
  [255, 0, 0],
  [0, 255, 0],
  [0, 0, 255],
  [255, 255, 255],
  [0, 0, 0],
];

interface Given {
  readonly encoding: string;
  readonly width?: number;
  readonly height?: number;
  readonly data: readonly number[];
  readonly step?: number;
  readonly is_bigendian?: number | boolean;
}

/** Returns the colours of the pixels, all of which are opaque. */
function colorsOf({ width = 2, height = 1, data, ...about }: Given): number[][] {
  const { rgba } = readRawImage({ width, height, data: Uint8Array.from(data), ...about });
  const pixels = Array.from({ length: rgba.length / 4 }, (_, at) => [...rgba.subarray(4 * at, 4 * at + 4)]);
  return pixels.map(([red, green, blue, opacity]) => {
    assert.equal(opacity, 255);
    return [red!, green!, blue!];
  });
}

test("each encoding of colours shows red and blue where they are", () => {
  const data: Record<string, number[]> = {
    rgb8: [255, 0, 0, 0, 0, 255],
    bgr8: [0, 0, 255, 255, 0, 0],
    "8UC3": [0, 0, 255, 255, 0, 0],
    rgba8: [255, 0, 0, 7, 0, 0, 255, 7],
    bgra8: [0, 0, 255, 7, 255, 0, 0, 7],
    "8UC4": [0, 0, 255, 7, 255, 0, 0, 7],
  };
  for (const [encoding, bytes] of Object.entries(data))
    assert.deepEqual(colorsOf({ encoding, data: bytes }), [RED, BLUE], encoding);
});

test("greys are shown as they are with a byte each, and else from the least to the most", () => {
  for (const encoding of ["mono8", "8UC1"]) assert.deepEqual(colorsOf({ encoding, data: [255, 0] }), [WHITE, BLACK]);
  for (const encoding of ["mono16", "16UC1"]) {
    const little = { encoding, width: 3, data: [0x00, 0x01, 0x00, 0x03, 0x00, 0x02] };
    assert.deepEqual(colorsOf(little), [BLACK, WHITE, [128, 128, 128]], encoding);
    const big = { ...little, data: [0x01, 0x00, 0x03, 0x00, 0x02, 0x00] };
    for (const is_bigendian of [1, true]) assert.deepEqual(colorsOf({ ...big, is_bigendian }), colorsOf(little));
  }
  assert.deepEqual(colorsOf({ encoding: "16UC1", data: [5, 0, 5, 0] }), [BLACK, BLACK], "all are equal");
  const depths = [...new Uint8Array(Float32Array.of(1, Number.NaN, 3, Number.POSITIVE_INFINITY).buffer)];
  assert.deepEqual(colorsOf({ encoding: "32FC1", width: 4, data: depths }), [BLACK, BLACK, WHITE, BLACK]);
});

test("each pattern of a Bayer sensor gives one pixel for four", () => {
  const given = { width: 2, height: 2 };
  const red = { rggb: [255, 0, 0, 0], bggr: [0, 0, 0, 255], gbrg: [0, 0, 255, 0], grbg: [0, 255, 0, 0] };
  const green = { rggb: [0, 255, 255, 0], bggr: [0, 255, 255, 0], gbrg: [255, 0, 0, 255], grbg: [255, 0, 0, 255] };
  for (const pattern of ["rggb", "bggr", "gbrg", "grbg"] as const) {
    const encoding = `bayer_${pattern}8`;
    assert.deepEqual(colorsOf({ ...given, encoding, data: red[pattern] }), [RED], encoding);
    assert.deepEqual(colorsOf({ ...given, encoding, data: green[pattern] }), [GREEN], encoding);
  }
  assert.throws(() => colorsOf({ encoding: "bayer_rggb8", width: 1, data: [1] }), /too small/);
});

test("two pixels that share a colour are shown with their own brightness, in both orders", () => {
  // Red has 81, 90 and 240 as Y, U and V.
  for (const encoding of ["yuv422", "uyvy"])
    assert.deepEqual(nearest({ encoding, data: [90, 81, 240, 81] }), [RED, RED]);
  for (const encoding of ["yuv422_yuy2", "yuyv"]) {
    assert.deepEqual(nearest({ encoding, data: [81, 90, 81, 240] }), [RED, RED], encoding);
    assert.deepEqual(nearest({ encoding, data: [235, 128, 16, 128] }), [WHITE, BLACK], encoding);
  }
});

/** Rounding is not the same everywhere. */
function nearest(given: Given): number[][] {
  return colorsOf(given).map((color) => color.map((part) => 5 * Math.round(part / 5)));
}

test("rows begin where the step says, and the last one needs no padding", () => {
  const given = { encoding: "mono8", width: 1, height: 3, step: 3 };
  assert.deepEqual(colorsOf({ ...given, data: [255, 9, 9, 0, 9, 9, 255] }), [WHITE, BLACK, WHITE]);
  assert.deepEqual(colorsOf({ ...given, step: 0, data: [255, 0, 255] }), [WHITE, BLACK, WHITE]);
});

test("what is wrong with a picture is said", () => {
  const refused: [Value, RegExp][] = [
    [{ encoding: "rgb8", width: 2, height: 2, data: new Uint8Array(11) }, /has 11 bytes, and its 2 rows need 12/],
    [
      { encoding: "rgb8", width: 2, height: 2, step: 5, data: new Uint8Array(12) },
      /rows have 5 bytes, and 2 pixels need 6/,
    ],
    [{ encoding: "rgb8", width: 4001, height: 4000, data: "" }, /4001 × 4000 pixels, which cannot/],
    [{ encoding: "rgb8", width: 0, height: 4, data: "" }, /0 × 4 pixels/],
    [{ encoding: "rgb8", width: -1, height: { valueOf: 1 }, data: "" }, /0 × 0 pixels/],
    [{ encoding: "jpeg2000", width: 1, height: 1, data: "" }, /in jpeg2000 are not shown/],
    [{ encoding: "toString", width: 1, height: 1, data: "" }, /in toString are not shown/],
    [{ encoding: { toString: 1 } }, /no known encoding/],
    [null, /no known encoding/],
  ];
  for (const [message, reason] of refused)
    assert.throws(() => readRawImage(message), { name: "DecodeError", message: reason });
});

test("whatever a message says, it is a picture of that size or is refused with a sentence", () => {
  const encoding = fc.constantFrom("rgb8", "bgra8", "mono16", "32FC1", "bayer_gbrg8", "yuyv", "uyvy");
  const size = fc.oneof(fc.nat(9), fc.integer());
  const message = fc.record({
    encoding,
    width: size,
    height: size,
    step: size,
    data: fc.uint8Array({ maxLength: 400 }),
  });
  fc.assert(
    fc.property(message, (given) => {
      try {
        const { rgba, width, height } = readRawImage(given);
        assert.equal(rgba.length, 4 * width * height);
      } catch (error) {
        assert.equal((error as Error).name, "DecodeError");
      }
    }),
  );
});
