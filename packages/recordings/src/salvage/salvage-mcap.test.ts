import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import { inspectRecording } from "../inspect/inspect.ts";
import { bytesSource, countReads } from "../sources/source.ts";
import { chunksOf, hundredChunks } from "../testing/hundred-chunks.ts";
import { compressWith } from "../testing/make-mcap.ts";
import { type ReadMessage, readMessages, readRecords } from "../testing/read-messages.ts";
import { salvage, salvagePool } from "../testing/salvage-bytes.ts";
import { seededRandom } from "../testing/sensors.ts";
import { firstCases } from "../testing/slow-test.ts";
import { writeMessages } from "../testing/write-messages.ts";

const compressions = ["", "zstd", "lz4"] as const;
type Compression = (typeof compressions)[number];
const START_NS = 1_714_000_000_000_000_000n;

/** Chunks that are stored in many blocks. Those of our lz4 hold 4 MiB. Each is made once, and every caller gets a copy. */
async function largeChunks(compression: Compression): Promise<Uint8Array> {
  const making = made.get(compression) ?? makeLargeChunks(compression);
  made.set(compression, making);
  return (await making).slice();
}

const made = new Map<Compression, Promise<Uint8Array>>();

function makeLargeChunks(compression: Compression): Promise<Uint8Array> {
  const random = seededRandom(3);
  const noise = Buffer.alloc(1_000_000).map(() => 97 + Math.floor(random() * 16));
  const dataBytes = compression === "lz4" ? 30_000 : 3000;
  const messages = Array.from({ length: 500 }, (_, index) => {
    const from = Math.floor(random() * (noise.byteLength - dataBytes));
    const data = noise.subarray(from, from + dataBytes);
    return { topic: "/a", logTimeNs: START_NS + BigInt(index) * 10_000_000n, data };
  });
  const chunkBytes = 240 * dataBytes;
  return writeMessages({ messages, topics: ["/a"], schema: "s", compression, chunkBytes, isIndexed: true });
}

function contentOf(messages: readonly ReadMessage[]): string[] {
  return messages.map(({ topic, logTimeNs, data }) => `${topic} ${logTimeNs} ${crc32(data)}`);
}

/** Requires that survey and salvage agree, and that the messages are the first ones of the whole file. Answers how many there are. */
async function requireFirst(bytes: Uint8Array, whole: Uint8Array): Promise<number> {
  const messages = contentOf(readMessages(await salvage(bytes, "run.mcap", salvagePool)));
  assert.deepEqual(messages, contentOf(readMessages(whole)).slice(0, messages.length));
  const inspection = await inspectRecording(bytesSource(bytes), { fileName: "run.mcap", salvage: true });
  assert.ok(inspection.state === "incomplete" && inspection.salvage);
  assert.equal(inspection.salvage.messageCount, messages.length);
  const { damage } = inspection.salvage;
  assert.ok(damage?.messagesGuessed && damage.messagesGuessed > 0 && !damage.isCountKnown);
  return messages.length;
}

for (const compression of firstCases(2, compressions))
  test(`a chunk in progress is read as far as it goes, with and without sizes: ${compression || "not compressed"}`, async () => {
    const whole = await largeChunks(compression);
    const places = chunksOf(whole);
    assert.ok(places.length >= 2);
    for (const [index, { at, bytes }] of places.slice(0, 2).entries()) {
      if (compression === "lz4" && index === 0) continue; // its chunks are large
      const before = places.slice(0, index).reduce((sum, { messageCount }) => sum + messageCount, 0);
      const cut = whole.slice(0, at + Math.floor(bytes * 0.7));
      const count = await requireFirst(cut, whole);
      assert.ok(count >= before + Math.floor(places[index]!.messageCount / 3), `${count}`);
      const unwritten = Buffer.from(cut);
      for (const offset of [at + 1, at + 25, at + 9 + 32 + compression.length])
        unwritten.writeBigUInt64LE(2n ** 64n - 1n, offset);
      assert.equal(await requireFirst(unwritten, whole), count);
    }
  });

test("a chunk whose record length alone is garbage is found by its own sizes and its checksum", async () => {
  for (const compression of firstCases(2, compressions)) {
    const whole = await hundredChunks(compression);
    const { at } = chunksOf(whole)[4]!;
    for (const length of [0n, 5n, 2n ** 31n, 13_918_078_099_166_753_393n]) {
      const lying = Buffer.from(whole);
      lying.writeBigUInt64LE(length, at + 1);
      assert.equal(
        readMessages(await salvage(lying, "run.mcap", salvagePool)).length,
        1000,
        `${compression} ${length}`,
      );
    }
  }
});

test("of a chunk without a checksum that is damaged inside, the messages before the damage are taken", async () => {
  for (const compression of ["", "zstd"] as const) {
    const whole = Buffer.from(await largeChunks(compression));
    const { at, bytes, messageCount } = chunksOf(whole)[0]!;
    whole.writeUInt32LE(0, at + 33);
    const damaged = Buffer.from(whole).fill(0, at + Math.floor(bytes * 0.7), at + Math.floor(bytes * 0.7) + 20_000);
    const salvaged = contentOf(readMessages(await salvage(damaged, "run.mcap", salvagePool)));
    const originals = contentOf(readMessages(whole));
    const taken = salvaged.length - (originals.length - messageCount);
    assert.ok(taken >= messageCount / 3 && taken < messageCount, `${compression}: ${taken} of ${messageCount}`);
    const behind = originals.slice(messageCount);
    assert.deepEqual(salvaged.slice(-behind.length), behind);
    assert.deepEqual(salvaged.slice(0, taken - 1), originals.slice(0, taken - 1));
  }
});

test("lengths of 2^63 cost nothing, and chunks that all reach to the end of the file are not read again and again", async () => {
  const head = Buffer.alloc(49, 0xff).fill(6, 0, 1).fill(0, 37, 41);
  const heads = firstCases(5000, Array<Buffer>(20_000).fill(head));
  const many = Buffer.concat([Buffer.from(await hundredChunks("")).subarray(0, 60), ...heads]);
  const source = countReads(bytesSource(many));
  const inspection = await inspectRecording(source, { fileName: "run.mcap", salvage: true });
  assert.ok(inspection.state === "incomplete" && inspection.salvage?.messageCount === 0);
  // The bytes that are read of them are bounded; each to its end would be 600 MB.
  assert.ok(source.bytesRead < 64 * 1024 ** 2 + 64 * many.byteLength, `${source.bytesRead} of ${many.byteLength}`);
});

test("a summary that names a chunk far beyond the end of the file costs a salvage neither time nor messages", async () => {
  const whole = Buffer.from(await hundredChunks("lz4"));
  const [damaged, named] = [chunksOf(whole).at(-1)!, chunksOf(whole)[9]!];
  const place = Buffer.alloc(8);
  place.writeBigUInt64LE(BigInt(named.at));
  whole.writeBigUInt64LE(2n ** 52n, whole.lastIndexOf(place));
  whole.writeUInt32LE(0, whole.byteLength - 12); // No checksum of the summary.
  whole.fill(0, damaged.at, damaged.at + 60);
  assert.equal(readMessages(await salvage(whole, "run.mcap", salvagePool)).length, 1000 - damaged.messageCount);
});

test("a message index whose length is garbage costs none of the messages of the chunks around it", async () => {
  for (const compression of firstCases(2, compressions)) {
    const whole = await hundredChunks(compression);
    const { at, bytes } = chunksOf(whole)[4]!;
    const next = chunksOf(whole)[5]!;
    for (const length of [2n ** 40n, 2n ** 62n, BigInt(next.end - (at + bytes) - 9)]) {
      const lying = Buffer.from(whole);
      lying.writeBigUInt64LE(length, at + bytes + 1);
      assert.equal(
        readMessages(await salvage(lying, "run.mcap", salvagePool)).length,
        1000,
        `${compression} ${length}`,
      );
    }
  }
});

test("a chunk is read whose channel has its schema in a lost chunk; if no summary repeats the schema there is none", async () => {
  const messages = Array.from({ length: 1000 }, (_, index) => {
    return { topic: index < 500 ? "/a" : "/b", logTimeNs: BigInt(index), data: Buffer.alloc(100, `${index}`) };
  });
  const file = { messages, topics: ["/a", "/b"], schema: "one", compression: "lz4", chunkBytes: 1240 } as const;
  const whole = Buffer.from(await writeMessages({ ...file, isIndexed: true, sharesSchema: true }));
  const [first, ...others] = chunksOf(whole);
  whole.fill(0, first!.at + 60, first!.at + 80);
  const countAll = (bytes: Uint8Array): Record<string, number> => {
    const topics = readMessages(bytes).map(({ topic }) => topic);
    return { a: topics.filter((topic) => topic === "/a").length, b: topics.filter((topic) => topic === "/b").length };
  };
  const withSummary = await salvage(whole, "run.mcap", salvagePool);
  assert.deepEqual(countAll(withSummary), { a: 500 - first!.messageCount, b: 500 });
  assert.equal([...readRecords(withSummary).schemas.values()].length, 1);
  const without = await salvage(whole.subarray(0, others.at(-1)!.end), "run.mcap", salvagePool);
  assert.deepEqual(countAll(without), { a: 0, b: 500 });
  assert.equal([...readRecords(without).schemas.values()].length, 0);
});

test("a chunk whose size alone is damaged is read, because its checksum says that it is whole", async () => {
  for (const compression of compressions) {
    const whole = await hundredChunks(compression);
    const { at } = chunksOf(whole)[4]!;
    for (const bit of [1n, 2n ** 20n]) {
      const lying = Buffer.from(whole);
      lying.writeBigUInt64LE(lying.readBigUInt64LE(at + 25) ^ bit, at + 25);
      assert.equal(readMessages(await salvage(lying, "run.mcap", salvagePool)).length, 1000, `${compression} ${bit}`);
    }
  }
});

test("a chunk whose content seems to reach beyond its record is read, and it goes on where the record ends", async () => {
  for (const compression of firstCases(2, compressions)) {
    const whole = await hundredChunks(compression);
    const { at, bytes } = chunksOf(whole)[4]!;
    const sizeAt = at + 41 + compression.length;
    for (const moreBytes of [1n, 12n, BigInt(bytes)]) {
      const lying = Buffer.from(whole);
      lying.writeBigUInt64LE(lying.readBigUInt64LE(sizeAt) + moreBytes, sizeAt);
      assert.equal(
        readMessages(await salvage(lying, "run.mcap", salvagePool)).length,
        1000,
        `${compression} ${moreBytes}`,
      );
      const survey = await inspectRecording(bytesSource(lying.subarray(0, -20)), { fileName: "a.mcap", salvage: true });
      assert.ok("salvage" in survey && survey.salvage, `${compression} ${moreBytes}`);
      const { messageCount, damage } = survey.salvage;
      assert.deepEqual([messageCount, damage?.messagesGuessed, damage?.bytesLost], [1000, undefined, 0]);
    }
  }
});

test("a chunk whose head says that it is empty, and that holds messages, is no whole chunk, and is salvaged", async () => {
  for (const compression of firstCases(2, compressions)) {
    const whole = Buffer.from(await hundredChunks(compression));
    const { at, bytes } = chunksOf(whole)[4]!;
    whole.fill(0, at + 9, at + 9 + 28); // times, size and checksum
    const bare = Buffer.concat([whole.subarray(0, at + bytes), whole.subarray(chunksOf(whole)[5]!.at)]); // no index
    const inspection = await inspectRecording(bytesSource(bare), { fileName: "run.mcap", verifyChunks: true });
    assert.ok("reason" in inspection, compression);
    assert.equal(readMessages(await salvage(bare, "run.mcap", salvagePool)).length, 1000, compression);
    const survey = await inspectRecording(bytesSource(bare), { fileName: "run.mcap", salvage: true });
    assert.ok("salvage" in survey && survey.salvage?.messageCount === 1000, compression);
  }
});

test("an LZ4 chunk whose frame alone fails its own checksum is read, with a checksum of the chunk and without one", async () => {
  for (const hasChecksum of [true, false])
    for (const hasIndex of [true, false]) {
      const whole = Buffer.from(await hundredChunks("lz4"));
      const { at, bytes, end } = chunksOf(whole)[4]!;
      if (!hasChecksum) whole.writeUInt32LE(0, at + 33);
      whole[at + 52 + 6]! ^= 8; // The checksum of the frame's head.
      const lying = Buffer.concat([whole.subarray(0, at + bytes), whole.subarray(hasIndex ? at + bytes : end)]);
      const verified = await inspectRecording(bytesSource(lying), { fileName: "run.mcap", verifyChunks: true });
      assert.ok("reason" in verified && verified.reason.code === "BadChunk");
      assert.equal(readMessages(await salvage(lying, "run.mcap", salvagePool)).length, 1000);
    }
});

test("a chunk without a checksum whose size is damaged is read to its last byte, also if it names an unknown channel", async () => {
  for (const compression of compressions) {
    const whole = Buffer.from(await hundredChunks(""));
    const { at, end } = chunksOf(whole)[4]!;
    const content = whole.subarray(at + 49, at + 49 + Number(whole.readBigUInt64LE(at + 41)));
    content.writeUInt16LE(1025, content.indexOf(Uint8Array.of(5)) + 9);
    const stored = compression === "" ? content : compressWith(compression)(content).compressedData;
    const head = Buffer.concat([whole.subarray(at, at + 41), Buffer.from(compression), Buffer.alloc(8)]);
    head.writeBigUInt64LE(BigInt(head.byteLength - 9 + stored.byteLength), 1);
    head.writeBigUInt64LE(BigInt(content.byteLength + 2 ** 20), 25);
    head.writeUInt32LE(0, 33); // no checksum
    head.writeUInt32LE(compression.length, 37);
    head.writeBigUInt64LE(BigInt(stored.byteLength), head.byteLength - 8);
    const lying = Buffer.concat([whole.subarray(0, at), head, stored, whole.subarray(end)]);
    assert.equal(readMessages(await salvage(lying, "run.mcap", salvagePool)).length, 999, compression);
  }
});

test("in a chunk whose size alone is damaged there may be records that belong outside of chunks, or that are an application's own", async () => {
  const whole = Buffer.from(await hundredChunks(""));
  const { at, end } = chunksOf(whole)[4]!;
  const contentBytes = Number(whole.readBigUInt64LE(at + 41));
  const messages = whole.subarray(at + 49, at + 49 + contentBytes);
  const metadata = Buffer.from([0x0c, 8, ...Array(7 + 8).fill(0)]); // without a name and without entries
  const own = Buffer.from([0x80, ...Array(8).fill(0)]); // without content
  for (const record of [metadata, own]) {
    const content = Buffer.concat([record, messages]);
    const head = Buffer.from(whole.subarray(at, at + 49));
    head.writeBigUInt64LE(BigInt(40 + content.byteLength), 1);
    head.writeBigUInt64LE(1n, 25); // the size that is damaged
    head.writeUInt32LE(crc32(content), 33);
    head.writeBigUInt64LE(BigInt(content.byteLength), 41);
    const lying = Buffer.concat([whole.subarray(0, at), head, content, whole.subarray(end)]);
    assert.equal(readMessages(await salvage(lying, "run.mcap", salvagePool)).length, 1000, `type ${record[0]}`);
  }
});
