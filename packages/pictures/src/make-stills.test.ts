import assert from "node:assert/strict";
import { test } from "node:test";
import { findImage } from "@downlink/messages/image-bytes";
import { encode } from "fast-png";
import jpeg from "jpeg-js";
import { makeStills } from "./make-stills.ts";
import { shrink } from "./shrink.ts";

/** A picture of one grey, with a brighter left half. */
function pictureOf(grey: number, width = 320, height = 240) {
  const data = Uint8Array.from({ length: width * height * 4 }, (_, at) => {
    const isLeft = (at >> 2) % width < width / 2;
    return at % 4 === 3 ? 255 : grey + (isLeft ? 50 : 0);
  });
  return findImage({ data: encode({ width, height, channels: 4, data }) });
}

test("stills lie side by side in their order, and the middle one comes for itself", async () => {
  const greys = [0, 80, 160];
  const { strip, single, ...facts } = await makeStills(
    greys.map((grey) => pictureOf(grey)),
    160,
  );
  assert.deepEqual(facts, { width: 160, height: 120, places: [0, 1, 2] });
  const row = jpeg.decode(strip, { useTArray: true });
  assert.deepEqual([row.width, row.height], [480, 120]);
  const near = (picture: typeof row, x: number, grey: number) => {
    const level = picture.data[(60 * picture.width + x) * 4]!;
    assert.ok(Math.abs(level - grey) < 6, `${level} at ${x}`);
  };
  for (const [place, grey] of greys.entries()) {
    near(row, place * 160 + 40, grey + 50);
    near(row, place * 160 + 120, grey);
  }
  const middle = jpeg.decode(single, { useTArray: true });
  assert.deepEqual([middle.width, middle.height], [160, 120]);
  near(middle, 120, 80);
});

test("pictures that cannot be read are left out, and small and upright ones keep their shape", async () => {
  const broken = { bytes: new Uint8Array(90), mediaType: "image/jpeg", width: 9, height: 9 } as const;
  const large = { ...broken, width: 5000, height: 5000 };
  const upright = pictureOf(20, 300, 600);
  const mixed = await makeStills([broken, large, upright, pictureOf(90)], 160);
  assert.deepEqual([mixed.places, mixed.width, mixed.height], [[2, 3], 80, 160]);
  const { width, height } = await makeStills([pictureOf(1, 33, 7)], 160);
  assert.deepEqual([width, height], [33, 7]);
  await assert.rejects(makeStills([broken], 160), /no whole JPEG/);
  const sound = findImage({ data: jpeg.encode({ width: 16, height: 8, data: Buffer.alloc(512, 90) }, 90).data });
  assert.deepEqual((await makeStills([broken, sound], 160)).places, [1]);
  await assert.rejects(makeStills([large], 160), { name: "DecodeError", message: /16000000/ });
});

test("a pixel of a smaller picture is the mean of those that it covers", () => {
  for (const [width, height, toWidth, toHeight] of sizes) {
    const rgba = Uint8Array.from({ length: width * height * 4 }, (_, at) => (at * 73) % 256);
    const small = shrink({ rgba, width, height }, { width: toWidth, height: toHeight });
    const covered = Array.from({ length: toWidth * toHeight }, (): number[] => []);
    for (let pixel = 0; pixel < width * height; pixel += 1) {
      const column = placeOf(pixel % width, width, toWidth);
      covered[placeOf(Math.floor(pixel / width), height, toHeight) * toWidth + column]!.push(rgba[pixel * 4]!);
    }
    for (const [pixel, values] of covered.entries())
      assert.equal(small[pixel * 4], Math.round(values.reduce((sum, one) => sum + one, 0) / values.length));
  }
});

const sizes = [
  [7, 5, 3, 2],
  [16, 9, 16, 9],
  [100, 3, 9, 1],
] as const;

/** The last of the smaller places that begins at or before a place. */
function placeOf(at: number, size: number, smaller: number): number {
  return Array.from({ length: smaller }, (_, place) => place).findLast(
    (place) => Math.floor((place * size) / smaller) <= at,
  )!;
}
