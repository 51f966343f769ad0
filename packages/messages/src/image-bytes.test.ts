import assert from "node:assert/strict";
import { test } from "node:test";
import { findImage } from "./image-bytes.ts";

const jpeg = (width: number, height: number) =>
  Uint8Array.from([
    ...[0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xff, 0xdb, 0, 2],
    ...[0xff, 0xc2, 0, 11, 8, height >> 8, height & 255, width >> 8, width & 255, 3, 0, 0],
  ]);
const png = (width: number, height: number) => {
  const bytes = Buffer.alloc(33);
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return new Uint8Array(bytes);
};

test("a picture is what its bytes are, in bytes, base 64 or a list of numbers", () => {
  const bytes = jpeg(640, 480);
  for (const data of [bytes, Buffer.from(bytes).toString("base64"), [...bytes], new Int8Array(bytes.buffer)]) {
    const { width, height, mediaType } = findImage({ format: "png", data });
    assert.deepEqual([width, height, mediaType], [640, 480, "image/jpeg"]);
  }
  assert.equal(findImage({ data: png(3, 2) }).mediaType, "image/png");
});

test("a picture that would unpack to more than a page may hold is refused by its header", () => {
  for (const data of [jpeg(65_535, 65_535), png(2 ** 31, 2 ** 31), png(0, 5)]) {
    assert.throws(() => findImage({ data }), /pixels, which cannot be shown/);
  }
});

test("bytes that are no picture, and pictures cut anywhere, are refused with a sentence", () => {
  for (const data of [new Uint8Array(), new Uint8Array(100), "no base 64", "", undefined, 5, null, [1, 2]]) {
    assert.throws(() => findImage({ data } as never), { name: "DecodeError" });
  }
  for (const whole of [jpeg(4, 4), png(4, 4)]) {
    const needed = whole.byteLength === 33 ? 24 : 22;
    for (let length = 0; length < needed; length += 1) {
      assert.throws(() => findImage({ data: whole.slice(0, length) }), { name: "DecodeError" });
    }
  }
});
