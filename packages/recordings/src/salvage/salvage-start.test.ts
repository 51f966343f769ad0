import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { compressFrameSync } from "lz4-napi";
import { findEnd, inspectRecording } from "../inspect/inspect.ts";
import { bytesSource } from "../sources/source.ts";
import { bagChunksOf } from "../testing/bag-chunks.ts";
import { compressBzip2 } from "../testing/bzip2-frame.ts";
import { chunksOf, hundredChunks } from "../testing/hundred-chunks.ts";
import { makeBag } from "../testing/make-bag.ts";
import { makeMcap } from "../testing/make-mcap.ts";
import { readMessages } from "../testing/read-messages.ts";
import { salvage, salvagePool } from "../testing/salvage-bytes.ts";
import { firstCases } from "../testing/slow-test.ts";
import { writeMessages } from "../testing/write-messages.ts";

/** Requires that survey and salvage agree. Answers the code, the number of messages and the topics. */
async function lookAt(bytes: Uint8Array, fileName: string): Promise<[code: string, count: number, topics: string[]]> {
  const inspection = await inspectRecording(bytesSource(bytes), { fileName, salvage: true });
  assert.ok("reason" in inspection && "salvage" in inspection && inspection.salvage, inspection.state);
  const messages = readMessages(await salvage(bytes, fileName, salvagePool));
  assert.equal(inspection.salvage.messageCount, messages.length);
  return [inspection.reason.code, messages.length, [...new Set(messages.map(({ topic }) => topic))].sort()];
}

function flip(bytes: Uint8Array, at: number, bit: number): Uint8Array {
  const flipped = new Uint8Array(bytes);
  flipped[at]! ^= 1 << bit;
  return flipped;
}

test("one flipped bit anywhere in the magic costs no message, in either format", async () => {
  const mcap = await hundredChunks("lz4");
  for (const at of firstCases(2, [0, 7, 1, 2, 3, 4, 5, 6]))
    assert.deepEqual(await lookAt(flip(mcap, at, at % 8), "run.mcap"), ["BadMagic", 1000, ["/a"]], `byte ${at}`);
  const bag = await makeBag({ chunkBytes: 8000, durationSeconds: 0.5 });
  const count = bagChunksOf(bag).reduce((sum, { messageCount }) => sum + messageCount, 0);
  for (const at of firstCases(2, [12, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]))
    assert.deepEqual((await lookAt(flip(bag, at, at % 8), "run.bag")).slice(0, 2), ["BadMagic", count], `byte ${at}`);
});

test("first bytes that are zero or garbage cost what they held, and nothing behind them", async () => {
  const mcap = await hundredChunks("zstd");
  const bag = await makeBag({ chunkBytes: 8000 });
  const bagChunks = bagChunksOf(bag);
  for (const lostBytes of firstCases(2, [4096, 8, 20, 512]))
    for (const fill of [0, 0xa5]) {
      const places = chunksOf(mcap).filter(({ at }) => at >= lostBytes);
      const left = places.reduce((sum, { messageCount }) => sum + messageCount, 0);
      const [, count] = await lookAt(new Uint8Array(mcap).fill(fill, 0, lostBytes), "run.mcap");
      assert.equal(count, left, `MCAP, ${lostBytes} bytes`);
      const all = bagChunks.reduce((sum, { messageCount }) => sum + messageCount, 0);
      const [, bagCount] = await lookAt(new Uint8Array(bag).fill(fill, 0, lostBytes), "run.bag");
      assert.equal(bagCount, all, `bag, ${lostBytes} bytes`);
    }
});

test("a file that holds no chunk is no recording, whatever its name is", async () => {
  for (const fileName of ["run.mcap", "run.bag"])
    for (const text of ["a shopping list\n".repeat(1000), "{}"]) {
      const inspection = await inspectRecording(bytesSource(Buffer.from(text)), { fileName, salvage: true });
      assert.ok(inspection.state === "unsupported" && inspection.reason.code === "NotARecording");
    }
});

function fileOf(topic: string, second: number): Promise<Uint8Array> {
  const messages = Array.from({ length: 100 }, (_, index) => {
    return { topic, logTimeNs: BigInt(second) * 1_000_000_000n + BigInt(index), data: Buffer.alloc(50, `${index}`) };
  });
  return writeMessages({
    messages,
    topics: [topic],
    schema: topic,
    compression: "lz4",
    chunkBytes: 1000,
    isIndexed: true,
  });
}

test("files that were joined to one are never complete, and a salvage gives the messages of each by its own channels", async () => {
  const [a, b] = [await fileOf("/a", 1), await fileOf("/b", 2)];
  for (const joined of [
    [a, b],
    [b, a, b],
    [a, a],
  ]) {
    const bytes = Buffer.concat(joined);
    for (const verifyChunks of [false, true]) {
      const { state } = await inspectRecording(bytesSource(bytes), { fileName: "run.mcap", verifyChunks });
      assert.equal(state, "damaged");
    }
    const [, count, topics] = await lookAt(bytes, "run.mcap");
    assert.deepEqual([count, topics], [100 * joined.length, joined.includes(b) ? ["/a", "/b"] : ["/a"]]);
  }
  const cut = a.subarray(0, chunksOf(a)[5]!.at + 30);
  const left = chunksOf(a)
    .slice(0, 5)
    .reduce((sum, { messageCount }) => sum + messageCount, 0);
  assert.deepEqual((await lookAt(Buffer.concat([cut, b]), "run.mcap")).slice(1), [left + 100, ["/a", "/b"]]);
});

test("bags that were joined to one are read one after another", async () => {
  const [a, b] = [
    await makeBag({ durationSeconds: 0.5 }),
    await makeBag({ topics: [{ topic: "/odometry", type: "std_msgs/String", rateHz: 10 }] }),
  ];
  const count = (bag: Uint8Array) => bagChunksOf(bag).reduce((sum, { messageCount }) => sum + messageCount, 0);
  const found = await lookAt(Buffer.concat([a, b]), "run.bag");
  assert.deepEqual(found, ["BadSummary", count(a) + count(b), ["/imu", "/odometry", "/status"]]);
});

test("a transfer in text mode, another version and a mark of a text editor are reported as what they are", async () => {
  const mcap = Buffer.from(await makeMcap({ durationSeconds: 0.2 }));
  const bag = Buffer.from(await makeBag({ durationSeconds: 0.2 }));
  const version = Buffer.from(mcap.map((byte, index) => (index === 5 || index === mcap.byteLength - 3 ? 0x31 : byte)));
  for (const [fileName, bytes, code, text] of [
    ["a.mcap", Buffer.from(mcap.toString("latin1").replaceAll("\r\n", "\n"), "latin1"), "BadMagic", /text mode/],
    ["a.mcap", Buffer.from(mcap.toString("latin1").replaceAll("\n", "\r\n"), "latin1"), "BadMagic", /text mode/],
    ["a.bag", Buffer.from(bag.toString("latin1").replaceAll("\n", "\r\n"), "latin1"), "BadMagic", /text mode/],
    ["a.mcap", Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), mcap]), "BadMagic", /byte order mark/],
    ["a.bag", Buffer.from(`#ROSBAG V1.2\n${"x".repeat(500)}`), "UnsupportedFormat", /bag of version 1\.2/],
    ["a.mcap", version, "UnsupportedFormat", /MCAP file of version "1"/],
  ] as const) {
    const inspection = await inspectRecording(bytesSource(bytes), { fileName });
    assert.ok("reason" in inspection);
    assert.equal(inspection.reason.code, code, `${text}`);
    assert.match(inspection.reason.text, text);
  }
});

test("a file that is compressed as a whole says so, and which command opens it, whatever its name is", async () => {
  const mcap = Buffer.from(await makeMcap({ durationSeconds: 0.1 }));
  const packed: [string, Uint8Array, RegExp][] = [
    ["zstd", zstdCompressSync(mcap), /`zstd -d FILE -o OUT\.(mcap|bag)`/],
    ["gzip", gzipSync(mcap), /`gzip -dc FILE/],
    ["bzip2", compressBzip2(mcap.subarray(0, 5000)), /`bzip2 -dc FILE/],
    ["lz4", compressFrameSync(mcap), /`lz4 -d FILE/],
    ["xz", Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0, 0, 4]), /`xz -dc FILE/],
  ];
  for (const [name, bytes, command] of packed)
    for (const fileName of ["run.mcap", "run.bag", "run.mcap.zst", "upload"]) {
      const inspection = await inspectRecording(bytesSource(bytes), { fileName, salvage: true });
      assert.ok(inspection.state === "unsupported" && inspection.reason.code === "CompressedFile", fileName);
      assert.match(inspection.reason.text, new RegExp(`compressed as a whole with ${name}`));
      assert.match(inspection.reason.text, command);
      assert.equal(await findEnd(bytesSource(bytes), fileName), "impossible");
    }
});
