import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { crc32 } from "node:zlib";
import { McapRecordBuilder } from "@mcap/core";
import { compressFrameSync } from "lz4-napi";
import { loadLz4 } from "../codecs/load-lz4.ts";
import { inspectRecording } from "../inspect/inspect.ts";
import { bytesSource } from "../sources/source.ts";

const MESSAGE_BYTES = 20_000_000;
const MOST_LOOKS = 3;

/** Makes a recording whose only chunk says that it holds 1000 bytes, and holds one message of 20 MB. */
function makeLying(uncompressedCrc: (records: Uint8Array) => number): Uint8Array {
  const records = new McapRecordBuilder();
  records.writeChannel({ id: 1, schemaId: 0, topic: "/t", messageEncoding: "json", metadata: new Map() });
  records.writeMessage({
    channelId: 1,
    sequence: 0,
    logTime: 1n,
    publishTime: 1n,
    data: new Uint8Array(MESSAGE_BYTES),
  });
  const builder = new McapRecordBuilder();
  builder.writeMagic();
  builder.writeHeader({ profile: "", library: "lying" });
  builder.writeChunk({
    messageStartTime: 1n,
    messageEndTime: 1n,
    uncompressedSize: 1000n,
    uncompressedCrc: uncompressedCrc(records.buffer),
    compression: "lz4",
    records: compressFrameSync(Buffer.from(records.buffer)),
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

for (const { name, uncompressedCrc } of [
  { name: "without a checksum", uncompressedCrc: () => 0 },
  { name: "with its checksum", uncompressedCrc: (records: Uint8Array) => crc32(records) },
])
  test(`the memory of each block of a chunk ${name} that is larger than it says is given back as soon as the block was looked at`, async (t) => {
    const bytes = makeLying(uncompressedCrc);
    const blocks = keepBlocks(t);
    const found = await inspectRecording(bytesSource(bytes), { fileName: "lying.mcap", salvage: true });
    assert.deepEqual([found.state, "salvage" in found && found.salvage?.messageCount], ["damaged", 1]);
    assert.ok(blocks.length >= 5);
    // A look that refuses a block leaves that one to the garbage collector.
    assert.ok(blocks.filter(({ byteLength }) => byteLength > 0).length <= MOST_LOOKS);
  });
