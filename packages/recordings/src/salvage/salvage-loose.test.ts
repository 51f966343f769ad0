import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import { inspectRecording } from "../inspect/inspect.ts";
import { bytesSource, countReads } from "../sources/source.ts";
import { chunksOf, hundredChunks } from "../testing/hundred-chunks.ts";
import { compressWith } from "../testing/make-mcap.ts";
import { type ReadMessage, readMessages } from "../testing/read-messages.ts";
import { salvage, salvagePool } from "../testing/salvage-bytes.ts";
import { firstCases, slowTest } from "../testing/slow-test.ts";
import { writeMessages } from "../testing/write-messages.ts";

// A record between chunks, or in a file without chunks, is found as a careful reader of its records finds it.

function contentOf(messages: readonly ReadMessage[]): string[] {
  return messages.map(({ topic, logTimeNs, data }) => `${topic} ${logTimeNs} ${crc32(data)}`);
}

/** A hundred messages, and the same in a file without chunks that ends with the last of them. */
async function looseMessages(): Promise<{ whole: Uint8Array; loose: Buffer; contentAt: number }> {
  const messages = Array.from({ length: 100 }, (_, index) => {
    return { topic: "/a", logTimeNs: BigInt(index), data: Buffer.alloc(100, `${index}`) };
  });
  const file = { messages, topics: ["/a"], schema: "one", compression: "", chunkBytes: 1e6, isIndexed: true } as const;
  const whole = await writeMessages(file);
  const { at, bytes } = chunksOf(whole)[0]!;
  const content = whole.subarray(at + 49, at + bytes); // A record of a chunk may stand outside, too.
  return { whole, loose: Buffer.concat([whole.subarray(0, at), content]), contentAt: at };
}

/** Requires that survey and salvage give all messages but these. */
async function requireAllBut(bytes: Uint8Array, whole: Uint8Array, lost: readonly number[]): Promise<void> {
  const expected = contentOf(readMessages(whole)).filter((_, index) => !lost.includes(index));
  assert.deepEqual(contentOf(readMessages(await salvage(bytes, "run.mcap", salvagePool))), expected);
  const inspection = await inspectRecording(bytesSource(bytes), { fileName: "run.mcap", salvage: true });
  assert.ok("salvage" in inspection);
  assert.equal(inspection.salvage?.messageCount, expected.length);
}

test("a record that makes no sense hides none of the records between it and the next chunk", async () => {
  const { whole, loose, contentAt } = await looseMessages();
  loose.writeUInt32LE(2 ** 20, contentAt + 9 + 2); // The length of the schema's name.
  await requireAllBut(loose, whole, []);
});

test("in a file without chunks a record whose length is garbage, or zeros, hide none of the messages behind them", async () => {
  const { whole, loose } = await looseMessages();
  const messageBytes = 9 + 22 + 100;
  const startOf = (index: number): number => loose.byteLength - (100 - index) * messageBytes;
  for (const length of [2n ** 40n, 2n ** 63n, 2n ** 64n - 1n]) {
    const lying = Buffer.from(loose);
    for (const index of [20, 50, 52, 99]) lying.writeBigUInt64LE(length, startOf(index) + 1);
    await requireAllBut(lying, whole, [20, 50, 52, 99]);
  }
  const zeroed = Buffer.from(loose).fill(0, startOf(30), startOf(32) + 5);
  await requireAllBut(zeroed, whole, [30, 31, 32]);
});

test("of places that look like messages not all are read, however many there are", async () => {
  const { loose } = await looseMessages();
  // A message that ends where none begins, over and over.
  const head = Buffer.from(loose.subarray(-131, -100));
  head.writeBigUInt64LE(2n ** 18n, 1);
  const places = firstCases(10_000, Array<Buffer>(100_000).fill(head));
  const lying = Buffer.concat([loose, Buffer.from([0]), ...places]);
  const source = countReads(bytesSource(lying));
  const inspection = await inspectRecording(source, { fileName: "run.mcap", salvage: true });
  // The bytes that are read of them are bounded; each to its end would be more than a gigabyte.
  assert.ok(source.bytesRead < 64 * 1024 ** 2 + 24 * lying.byteLength, `${source.bytesRead} of ${lying.byteLength}`);
  assert.ok("salvage" in inspection && inspection.salvage && inspection.salvage.messageCount >= 100);
});

test("behind an index that covers records and a part of one, it goes on where the index ends by its own length", async () => {
  const whole = await hundredChunks("lz4");
  const { at, bytes, end } = chunksOf(whole)[4]!;
  const indexAt = at + bytes;
  const metadata = Buffer.alloc(9 + 8)
    .fill(0x0c, 0, 1)
    .fill(8, 1, 2); // without a name and without entries
  for (const partBytes of [12, 400, 2 ** 30]) {
    const part = Buffer.alloc(9 + 3).fill(0x80, 0, 1); // A reader takes records of unknown types as they are.
    part.writeBigUInt64LE(BigInt(partBytes), 1);
    const lying = Buffer.concat([
      whole.subarray(0, end),
      metadata,
      part,
      whole.subarray(end, chunksOf(whole).at(-1)!.end),
    ]);
    lying.writeBigUInt64LE(BigInt(end + metadata.byteLength + part.byteLength - indexAt - 9), indexAt + 1);
    assert.equal(readMessages(await salvage(lying, "run.mcap", salvagePool)).length, 1000, `${partBytes}`);
    const inspection = await inspectRecording(bytesSource(lying), { fileName: "run.mcap", salvage: true });
    assert.ok("salvage" in inspection && inspection.salvage?.messageCount === 1000);
  }
});

test("the survey finds the chunks that an index covers, also behind a chunk that was found by its looks", async () => {
  const whole = await hundredChunks("lz4");
  const [, , , , chunk, next, last] = chunksOf(whole);
  const indexAt = chunk!.at + chunk!.bytes;
  const lying = Buffer.from(whole.subarray(0, chunksOf(whole).at(-1)!.end));
  lying.writeBigUInt64LE(BigInt(last!.end - indexAt - 9), indexAt + 1); // It covers two chunks with their indexes.
  lying.fill(0, next!.end - 4, next!.end); // The file makes no sense there any more, so that it is skimmed.
  for (const isFound of [false, true]) {
    if (isFound) lying.fill(0, chunk!.at - 16, chunk!.at);
    const bytes = Buffer.concat([lying, Buffer.from([0])]);
    const { length } = readMessages(await salvage(bytes, "run.mcap", salvagePool));
    const inspection = await inspectRecording(bytesSource(bytes), { fileName: "run.mcap", salvage: true });
    assert.ok("salvage" in inspection);
    assert.deepEqual([inspection.salvage?.messageCount, length], [1000, 1000]);
  }
});

test("behind a chunk whose content alone has an impossible length, it goes on where its record ends", async () => {
  const whole = await hundredChunks("lz4");
  const { end } = chunksOf(whole)[4]!;
  const empty = Buffer.alloc(9 + 40 + 3)
    .fill(6, 0, 1)
    .fill(43, 1, 2)
    .fill("\u0003\0\0\0lz4", 37, 44);
  empty.writeBigUInt64LE(2n ** 53n, 44);
  const message = (await looseMessages()).loose.subarray(-131);
  const lying = Buffer.concat([
    whole.subarray(0, end),
    empty,
    message,
    whole.subarray(end, chunksOf(whole).at(-1)!.end),
  ]);
  assert.equal(readMessages(await salvage(lying, "run.mcap", salvagePool)).length, 1001);
  const inspection = await inspectRecording(bytesSource(lying), { fileName: "run.mcap", salvage: true });
  assert.ok("salvage" in inspection && inspection.salvage?.messageCount === 1001);
});

test("a chunk whose size is impossible is read, also if its channel stands behind it", async () => {
  const { whole, loose, contentAt } = await looseMessages();
  const startOfMessages = loose.byteLength - 100 * 131;
  const definitions = loose.subarray(contentAt, startOfMessages);
  const content = loose.subarray(startOfMessages);
  for (const compression of ["", "lz4", "zstd"] as const)
    for (const crc of [0, crc32(content)]) {
      const stored = compression === "" ? content : compressWith(compression)(content).compressedData;
      const head = Buffer.concat([Buffer.alloc(9 + 28 + 4).fill(6, 0, 1), Buffer.from(compression), Buffer.alloc(8)]);
      head.writeBigUInt64LE(BigInt(head.byteLength - 9 + stored.byteLength), 1);
      head.writeBigUInt64LE(2n ** 62n, 25);
      head.writeUInt32LE(crc, 33);
      head.writeUInt32LE(compression.length, 37);
      head.writeBigUInt64LE(BigInt(stored.byteLength), head.byteLength - 8);
      await requireAllBut(Buffer.concat([loose.subarray(0, contentAt), head, stored, definitions]), whole, []);
    }
});

test("behind a record that makes no sense, a record of an unknown type hides no channel, in a file with compressed chunks", async () => {
  const whole = Buffer.from(await hundredChunks("lz4"));
  const [first] = chunksOf(whole);
  const definitions = (await looseMessages()).loose;
  const [schemaAt, channelAt, messagesAt] = recordsOf(definitions, first!.at);
  const schema = Buffer.from(definitions.subarray(schemaAt, channelAt));
  schema.writeUInt32LE(2 ** 20, 9 + 2); // The length of its name.
  const channel = definitions.subarray(channelAt, messagesAt);
  const unknown = Buffer.from(channel);
  for (const opcode of [0x14, 0x80]) {
    unknown[0] = opcode;
    // The chunk that introduces the channel is gone, and no summary repeats it.
    const chunks = whole.subarray(first!.end, chunksOf(whole).at(-1)!.end);
    for (const others of [[unknown], [unknown, unknown, unknown]]) {
      const lying = Buffer.concat([whole.subarray(0, first!.at), schema, ...others, channel, chunks]);
      assert.equal(readMessages(await salvage(lying, "run.mcap", salvagePool)).length, 1000 - first!.messageCount);
      const inspection = await inspectRecording(bytesSource(lying), { fileName: "run.mcap", salvage: true });
      assert.ok("salvage" in inspection && inspection.salvage?.messageCount === 1000 - first!.messageCount);
    }
  }
});

slowTest(
  "in a file with thousands of damaged places everything between them is found, and little is read for it",
  async () => {
    const { whole, loose, contentAt } = await looseMessages();
    const lying = Buffer.alloc(11); // In a message's data: a channel of 64 KiB seems to begin there.
    lying[0] = 4;
    lying.writeUInt32LE(2 ** 16, 1);
    const [, , messagesAt] = recordsOf(loose, contentAt);
    const message = Buffer.concat([loose.subarray(messagesAt, messagesAt + 31), lying]);
    message.writeBigUInt64LE(BigInt(message.byteLength - 9), 1);
    const damaged = Buffer.from(message).fill(0, 0, 1);
    const places = Array.from({ length: 2000 }, () => [damaged, message, message]).flat();
    const bytes = Buffer.concat([loose.subarray(0, messagesAt), ...places, loose.subarray(messagesAt)]);
    const source = countReads(bytesSource(bytes));
    const inspection = await inspectRecording(source, { fileName: "run.mcap", salvage: true });
    assert.ok("salvage" in inspection && inspection.salvage?.messageCount === 4100);
    assert.ok(source.bytesRead < 4 * bytes.byteLength, `${source.bytesRead} of ${bytes.byteLength}`);
    const salvaged = contentOf(readMessages(await salvage(bytes, "run.mcap", salvagePool)));
    assert.equal(salvaged.length, 4100);
    assert.ok(contentOf(readMessages(whole)).every((content) => salvaged.includes(content)));
  },
);

/** Where the first three records from a place on begin. */
function recordsOf(bytes: Buffer, from: number): [number, number, number] {
  const second = from + 9 + Number(bytes.readBigUInt64LE(from + 1));
  return [from, second, second + 9 + Number(bytes.readBigUInt64LE(second + 1))];
}
