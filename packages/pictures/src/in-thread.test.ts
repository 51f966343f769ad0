import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32, deflateSync } from "node:zlib";
import { findImage } from "@downlink/messages/image-bytes";
import { encode } from "fast-png";
import jpeg from "jpeg-js";
import { countLevels } from "./in-thread.ts";

const rgba = Uint8Array.from({ length: 8 * 4 * 4 }, (_, at) => (at % 4 === 3 ? 255 : (at * 5) % 256));
const png = encode({ width: 8, height: 4, channels: 4, data: rgba });

test("levels are counted by channel, of PNG exactly and of JPEG nearly", async () => {
  const counts = await countLevels(findImage({ data: png }));
  const wanted = new Float64Array(768);
  for (const [at, level] of rgba.entries()) if (at % 4 < 3) wanted[(at % 4) * 256 + level]! += 1;
  assert.deepEqual(counts, wanted);
  const grey = jpeg.encode({ width: 16, height: 16, data: Buffer.alloc(1024, 100) }, 95).data;
  const near = await countLevels(findImage({ data: grey }));
  const around = near.slice(97, 104).reduce((sum, count) => sum + count, 0);
  assert.equal(around, 256);
});

test("bytes that are no picture, and those that would fill the memory, are refused and end nothing", async () => {
  const bomb = replaceData(png, deflateSync(Buffer.alloc(200_000_000)));
  const cut = png.slice(0, 60);
  const junk = Uint8Array.from([0xff, 0xd8, 0xff, 0xc0, 0, 11, 8, 0, 4, 0, 8, 3, 1, 2, 3, 4, 5, 6]);
  for (const data of [bomb, cut, junk])
    await assert.rejects(countLevels(findImage({ data })), { name: "DecodeError", message: /cannot be read/ });
  const large = { bytes: png, mediaType: "image/png", width: 5000, height: 5000 } as const;
  await assert.rejects(countLevels(large), /A picture has 5000 × 5000 pixels, and 16000000 are read/);
  assert.equal((await countLevels(findImage({ data: png }))).length, 768);
});

/** Writes other data into a PNG, with its checksum. */
function replaceData(bytes: Uint8Array, data: Uint8Array): Uint8Array {
  const head = bytes.slice(0, 33);
  const body = Buffer.concat([Buffer.from("IDAT"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([head, length, body, sum, Buffer.from("0000000049454e44ae426082", "hex")]);
}
