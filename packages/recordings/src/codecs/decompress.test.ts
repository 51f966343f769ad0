import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { zstdCompressSync } from "node:zlib";
import { compressFrameSync } from "lz4-napi";
import { refusedWith } from "../testing/refused-with.ts";
import { compress } from "./compress.ts";
import { Decompressor } from "./decompress.ts";
import { isOneFrame } from "./decompress-frames.ts";
import { findLz4Frames } from "./lz4-frames.ts";

const plain = Buffer.from("imu imu imu gps ".repeat(20_000));
/** "hello hello hello hello\n" by bzip2. */
const bzip2Hello = Buffer.from("QlpoOTFBWSZTWW9PEPMAAAXRAAAQQAACRKAAMMACqDRxDa2HDxdyRThQkG9PEPM=", "base64");

test("what was compressed comes back, and nothing but the promised size is accepted", async () => {
  const decompress = new Decompressor();
  for (const compression of ["", "lz4", "zstd"] as const) {
    const bytes = await compress(compression, plain);
    const input = { compression, bytes, place: "the chunk at byte 1" };
    assert.deepEqual(Buffer.from(await decompress.whole({ ...input, uncompressedBytes: plain.byteLength })), plain);
    for (const uncompressedBytes of [1, plain.byteLength - 1, plain.byteLength + 1]) {
      await assert.rejects(
        decompress.whole({ ...input, uncompressedBytes }),
        refusedWith("BadChunk"),
        `${compression} ${uncompressedBytes}`,
      );
    }
    if (compression === "") continue;
    const cut = bytes.subarray(0, bytes.byteLength - 20);
    await assert.rejects(
      decompress.whole({ ...input, bytes: cut, uncompressedBytes: plain.byteLength }),
      refusedWith("BadChunk"),
    );
    assert.equal(
      (await decompress.whole({ ...input, uncompressedBytes: plain.byteLength })).byteLength,
      plain.byteLength,
    );
  }
});

test("an unknown compression is named", async () => {
  const input = { compression: "xz", bytes: plain, uncompressedBytes: 5, place: "the chunk at byte 1" };
  await assert.rejects(new Decompressor().whole(input), refusedWith("UnknownCompression"));
});

test("rubbish instead of bzip2 is a bad chunk, also after a good one", async () => {
  const decompress = new Decompressor();
  const input = { compression: "bz2", uncompressedBytes: 24, place: "the chunk at byte 1" };
  for (const bytes of [Buffer.from("BZh9 and then nothing"), Buffer.alloc(0), bzip2Hello.subarray(0, 20)]) {
    await assert.rejects(decompress.whole({ ...input, bytes }), refusedWith("BadChunk"));
    const hello = await decompress.whole({ ...input, bytes: bzip2Hello });
    assert.equal(Buffer.from(hello).toString(), "hello hello hello hello\n");
  }
  await assert.rejects(
    decompress.whole({ ...input, bytes: bzip2Hello, uncompressedBytes: 23 }),
    refusedWith("BadChunk"),
  );
});

test("reading bzip2 leaves no listeners on the process", async () => {
  const counts = () => ["uncaughtException", "unhandledRejection"].map((event) => process.listenerCount(event));
  const before = counts();
  const input = { compression: "bz2", uncompressedBytes: 24, place: "the chunk at byte 1", bytes: bzip2Hello };
  await new Decompressor().whole(input);
  assert.deepEqual(counts(), before);
});

test("the bound of an LZ4 frame is never below its content and close to it", () => {
  for (const size of [1, 1000, 70_000, 5_000_000]) {
    for (const fill of [
      Buffer.alloc(size),
      Buffer.alloc(size, "robot"),
      Buffer.from(Uint8Array.from({ length: size }, (_, i) => i * i * 31)),
    ]) {
      const [frame] = findLz4Frames(compressFrameSync(fill));
      const { mostBytes } = frame!;
      assert.ok(mostBytes >= size && mostBytes <= size + 4 * 1024 * 1024, `${size}: ${mostBytes}`);
    }
  }
  assert.deepEqual(findLz4Frames(Buffer.from("no frame at all")), []);
  assert.deepEqual(findLz4Frames(compressFrameSync(plain).subarray(0, 100)), []);
});

/** Passed over by every decoder. */
const skippable = Buffer.from("502a4d1805000000736b697070", "hex");

test("several frames, frames to skip and what follows them are read to the promised size, whole and in pieces", async () => {
  for (const compression of ["lz4", "zstd"] as const) {
    const frames = await Promise.all(
      [plain, plain.subarray(0, 1000), plain].map((part) => compress(compression, part)),
    );
    const bytes = Buffer.concat([skippable, frames[0]!, frames[1]!, skippable, frames[2]!, Buffer.from("rest")]);
    const content = Buffer.concat([plain, plain.subarray(0, 1000), plain]);
    const input = { compression, bytes, uncompressedBytes: content.byteLength, place: "the chunk at byte 1" };
    assert.deepEqual(Buffer.from(await new Decompressor().whole(input)), content);
    assert.deepEqual(Buffer.from(await new Decompressor({ isBlocking: true }).whole(input)), content);
    assert.deepEqual(Buffer.concat(await Array.fromAsync(new Decompressor().inPieces(input))), content);
    const lying = { ...input, uncompressedBytes: content.byteLength - 1 };
    await assert.rejects(Array.fromAsync(new Decompressor().inPieces(lying)), refusedWith("BadChunk"));
    assert.equal(isOneFrame(compression, frames[0]!), true);
    for (const odd of [bytes, bytes.subarray(skippable.byteLength), Buffer.concat([frames[0]!, frames[1]!])]) {
      assert.equal(isOneFrame(compression, odd), false);
    }
  }
});

/** "robot 0 robot 1 …" in blocks of 64 KiB by the reference program, with `-BD`. */
const linkedFrame = [
  "BCJNGERAXi0BAACCcm9ib3QgMCAIABMxCAATMggAEzMIABM0CAATNQgAEzYIAA84AP////////////////////////////////////////////",
  "//////////////////////////////////////////////////////////////////////////////////////////////////////////////",
  "//////////////////////////////////////////////////////////////////////////////////////////////////////////////",
  "////////////////////////////////////////////////////////////////////////////+qUG90IDEgCgEAAA/w////////////////",
  "//////////////////////////////////////////////////////////////////////////////////////////////////////////////",
  "//////////////////////////////////////////////////////////////////////////////////////////////////////////////",
  "///////////////////////////////////////////////////////////////////////////////////////////////////////////oUG",
  "90IDMgngAAAIJyb2JvdCA0IAgAEzUIABM2CAATMAgAEzEIABMyCAATMwgADzgA////////////////////////////////////////////////",
  "//////////////////////////////////////////////////////////////////////////////////////////////////////8bUG90ID",
  "AgAAAAAP9RLhg=",
].join("");

test("LZ4 blocks that refer to each other are read in pieces", async () => {
  const content = Buffer.from(Array.from({ length: 20_000 }, (_, index) => `robot ${index % 7} `).join(""));
  const bytes = Buffer.from(linkedFrame, "base64");
  const input = { compression: "lz4", bytes, uncompressedBytes: content.byteLength, place: "the chunk at byte 1" };
  assert.deepEqual(Buffer.concat(await Array.fromAsync(new Decompressor().inPieces(input))), content);
});

test("the beginning of a zstd frame gives as much as is wanted, sometimes more, and never anything else", async () => {
  const decompress = new Decompressor({ isBlocking: true });
  const noise = randomBytes(700_000);
  const text = Buffer.from("a line that compresses\n".repeat(40_000));
  const contents = [
    noise,
    text,
    Buffer.concat([text, noise, text]),
    Buffer.concat([noise, Buffer.alloc(500_000), text]),
  ];
  let spared = 0;
  for (const content of contents) {
    const bytes = zstdCompressSync(content);
    for (const share of [0, 0.01, 0.2, 0.5, 0.8, 0.99, 1]) {
      const wantedBytes = Math.floor(share * content.byteLength);
      const sizes = { uncompressedBytes: content.byteLength, wantedBytes };
      const begun = await decompress.whole({ compression: "zstd", bytes, place: "the chunk", ...sizes });
      assert.ok(begun.byteLength >= wantedBytes);
      assert.ok(content.subarray(0, begun.byteLength).equals(begun));
      spared += content.byteLength - begun.byteLength;
    }
  }
  assert.ok(spared > 1_000_000);
});
