import assert from "node:assert/strict";
import { test } from "node:test";
import { findImage } from "@downlink/messages/image-bytes";
import { encode } from "fast-png";
import jpeg from "jpeg-js";
import { joinStills, makeStill } from "./make-stills.ts";
import { shrink } from "./shrink.ts";

/** A picture of one grey, with a brighter left half. */
function pictureOf(grey: number, width = 320, height = 240) {
  const data = Uint8Array.from({ length: width * height * 4 }, (_, at) => {
    const isLeft = (at >> 2) % width < width / 2;
    return at % 4 === 3 ? 255 : grey + (isLeft ? 50 : 0);
  });
  return findImage({ data: encode({ width, height, channels: 4, data }) });
}

const most = { most: 160 };

test("stills lie side by side in their order, and the middle one comes for itself", async () => {
  const greys = [0, 80, 160];
  const stills = await Promise.all(greys.map((grey) => makeStill(pictureOf(grey), most)));
  const { strip, single, ...size } = await joinStills(stills);
  assert.deepEqual(size, { width: 160, height: 120 });
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

test("small and upright pictures keep their shape, and a later one takes that of the first", async () => {
  const sizeOf = async (...[picture, to]: Parameters<typeof makeStill>) => {
    const { width, height, rgba } = await makeStill(picture, to);
    assert.equal(rgba.length, width * height * 4);
    return [width, height];
  };
  assert.deepEqual(await sizeOf(pictureOf(20, 300, 600), most), [80, 160]);
  assert.deepEqual(await sizeOf(pictureOf(1, 33, 7), most), [33, 7]);
  assert.deepEqual(await sizeOf(pictureOf(1, 33, 7), { width: 80, height: 60 }), [80, 60]);
  const { rgba } = await makeStill(pictureOf(100, 320, 80), { width: 80, height: 60 });
  const levelAt = (x: number, y: number) => rgba[(y * 80 + x) * 4];
  assert.deepEqual([levelAt(10, 19), levelAt(10, 20), levelAt(60, 39), levelAt(60, 40)], [0, 150, 100, 0]);
});

test("pictures that cannot be read are refused, and the next one is read", async () => {
  const broken = { bytes: new Uint8Array(90), mediaType: "image/jpeg", width: 9, height: 9 } as const;
  await assert.rejects(makeStill(broken, most), /no whole JPEG/);
  await assert.rejects(makeStill({ ...broken, width: 5000, height: 5000 }, most), {
    name: "DecodeError",
    message: /16000000/,
  });
  const sound = findImage({ data: jpeg.encode({ width: 16, height: 8, data: Buffer.alloc(512, 90) }, 90).data });
  assert.equal((await makeStill(sound, most)).width, 16);
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
