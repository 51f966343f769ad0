import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { crc32, zstdCompressSync } from "node:zlib";
import { McapRecordBuilder } from "@mcap/core";
import { compressFrameSync } from "lz4-napi";
import { loadLz4 } from "../codecs/load-lz4.ts";
import { inspectRecording } from "../inspect/inspect.ts";
import { bytesSource } from "../sources/source.ts";

const MESSAGES = 200;
const MESSAGE_BYTES = 100_000;
const MOST_LOOKS = 3;

const packers = {
  "": (records: Uint8Array) => records,
  lz4: (records: Uint8Array) => compressFrameSync(Buffer.from(records)),
  zstd: (records: Uint8Array) => zstdCompressSync(records),
};

interface Lying {
  readonly compression: keyof typeof packers;
  readonly hasChecksum: boolean;
}

const records = makeRecords();
const checksum = crc32(records);

/** The messages of 20 MB. */
function makeRecords(): Uint8Array {
  const builder = new McapRecordBuilder();
  builder.writeChannel({ id: 1, schemaId: 0, topic: "/t", messageEncoding: "json", metadata: new Map() });
  const data = new Uint8Array(MESSAGE_BYTES);
  for (let sequence = 0; sequence < MESSAGES; sequence += 1)
    builder.writeMessage({ channelId: 1, sequence, logTime: 1n, publishTime: 1n, data: data.fill(sequence) });
  return builder.buffer;
}

/** Makes a recording whose only chunk says that it holds 1000 bytes, and holds all messages. */
function makeLying({ compression, hasChecksum }: Lying): Uint8Array {
  const builder = new McapRecordBuilder();
  builder.writeMagic();
  builder.writeHeader({ profile: "", library: "lying" });
  builder.writeChunk({
    messageStartTime: 1n,
    messageEndTime: 1n,
    uncompressedSize: 1000n,
    uncompressedCrc: hasChecksum ? checksum : 0,
    compression,
    records: packers[compression](records),
  });
  builder.writeDataEnd({ dataSectionCrc: 0 });
  builder.writeFooter({ summaryStart: 0n, summaryOffsetStart: 0n, summaryCrc: 0 });
  builder.writeMagic();
  return new Uint8Array(builder.buffer);
}

/** Keeps what the decoder answers, as a garbage collector does that does not come. */
function keepBlocks({ mock }: TestContext): Uint8Array[] {
  const blocks: Uint8Array[] = [];
  const lz4 = loadLz4();
  const uncompress = lz4.uncompressSync;
  mock.method(lz4, "uncompressSync", (...input: Parameters<typeof uncompress>) => {
    const block = uncompress(...input);
    blocks.push(block);
    return block;
  });
  return blocks;
}

async function countMessages(lying: Lying): Promise<number | undefined> {
  const found = await inspectRecording(bytesSource(makeLying(lying)), { fileName: "lying.mcap", salvage: true });
  assert.equal(found.state, "damaged");
  return "salvage" in found ? found.salvage?.messageCount : undefined;
}

for (const hasChecksum of [false, true]) {
  const name = `with${hasChecksum ? "" : "out"} a checksum`;
  test(`every message of a chunk ${name} that is larger than it says is found, however it is compressed`, async () => {
    for (const compression of ["", "zstd"] as const)
      assert.equal(await countMessages({ compression, hasChecksum }), MESSAGES, compression);
  });

  test(`the memory of each block of such a chunk ${name} is given back as soon as the block was looked at`, async (t) => {
    const blocks = keepBlocks(t);
    assert.equal(await countMessages({ compression: "lz4", hasChecksum }), MESSAGES);
    assert.ok(blocks.length >= 5);
    // A look that refuses a block leaves that one to the garbage collector.
    assert.ok(blocks.filter(({ byteLength }) => byteLength > 0).length <= MOST_LOOKS);
  });
}
