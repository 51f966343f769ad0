import { McapRecordBuilder } from "@mcap/core";
import { ChunkBuilder } from "../export/rewrite/chunk-builder.ts";
import { FragmentBuilder } from "../export/rewrite/fragment.ts";
import type { RandomAccessSource } from "../sources/source.ts";

const MESSAGES_PER_CHUNK = 100;
const MESSAGE_BYTES = 10_000;
const PERIOD_NS = 10_000_000n;
const chunkSpanNs = PERIOD_NS * BigInt(MESSAGES_PER_CHUNK);
const topics = ["/even", "/odd"];

/** A sound recording of any size that exists nowhere: each chunk is made when it is read. Two topics, in turn. */
export function makeHugeMcap(sizeBytes: number): RandomAccessSource {
  const template = makeTemplate();
  const head = makeHead();
  const chunkCount = Math.ceil(sizeBytes / template.bytes.byteLength);
  const end = makeEnd({ template, chunkCount, headBytes: head.byteLength });
  const chunkSize = template.bytes.byteLength;
  const endOffset = head.byteLength + chunkCount * chunkSize;
  return {
    sizeBytes: endOffset + end.byteLength,
    async read(offset, length) {
      const read = new Uint8Array(length);
      const put = (bytes: Uint8Array, at: number): void => {
        const from = Math.max(offset, at);
        const to = Math.min(offset + length, at + bytes.byteLength);
        if (from < to) read.set(bytes.subarray(from - at, to - at), from - offset);
      };
      put(head, 0);
      const first = Math.max(0, Math.floor((offset - head.byteLength) / chunkSize));
      for (let chunk = first; chunk < chunkCount; chunk += 1) {
        const at = head.byteLength + chunk * chunkSize;
        if (at >= offset + length) break;
        put(template.at(chunk), at);
      }
      put(end, endOffset);
      return read;
    },
  };
}

function makeHead(): Uint8Array {
  const builder = new McapRecordBuilder();
  builder.writeMagic();
  builder.writeHeader({ profile: "", library: "huge" });
  writeChannels(builder);
  return builder.buffer;
}

function writeChannels(builder: McapRecordBuilder): void {
  for (const [index, topic] of topics.entries()) {
    builder.writeChannel({ id: index + 1, schemaId: 0, topic, messageEncoding: "x", metadata: new Map() });
  }
}

type Template = ReturnType<typeof makeTemplate>;

/** The first chunk, and where times stand in it. */
function makeTemplate() {
  const builder = new FragmentBuilder();
  for (let index = 0; index < MESSAGES_PER_CHUNK; index += 1) {
    const logTimeNs = PERIOD_NS * BigInt(index);
    const data = new Uint8Array(MESSAGE_BYTES).fill(index);
    builder.addMessage({ channelId: 0, sequence: index, logTimeNs, publishTimeNs: logTimeNs, data }, 1 + (index % 2));
  }
  const fragment = builder.take();
  const starts = [...fragment.starts];
  const chunk = new ChunkBuilder("");
  for (const start of starts) chunk.mark(start);
  chunk.copy(fragment.records, 0, fragment.records.byteLength);
  const { bytes, ...facts } = chunk.seal();
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  view.setUint32(33, 0); // no checksum: the times change
  const recordsAt = facts.chunkBytes - facts.storedBytes;
  const places = [9, 17, ...starts.flatMap((start) => [recordsAt + start + 15, recordsAt + start + 23])];
  for (const { start, messageCount } of facts.channels) {
    for (let index = 0; index < messageCount; index += 1) places.push(start + 15 + 16 * index);
  }
  const times = places.map((place) => view.getBigUint64(place, true));
  const at = (chunk: number): Uint8Array => {
    const shiftNs = BigInt(chunk) * chunkSpanNs;
    for (const [index, place] of places.entries()) view.setBigUint64(place, times[index]! + shiftNs, true);
    return bytes;
  };
  return { bytes, facts, at };
}

function makeEnd({ template, chunkCount, headBytes }: { template: Template; chunkCount: number; headBytes: number }) {
  const { bytes, facts } = template;
  const builder = new McapRecordBuilder();
  builder.writeDataEnd({ dataSectionCrc: 0 });
  const summaryStart = BigInt(headBytes + chunkCount * bytes.byteLength + builder.length);
  writeChannels(builder);
  const perChannel = BigInt((chunkCount * MESSAGES_PER_CHUNK) / topics.length);
  builder.writeStatistics({
    messageCount: BigInt(chunkCount * MESSAGES_PER_CHUNK),
    schemaCount: 0,
    channelCount: topics.length,
    attachmentCount: 0,
    metadataCount: 0,
    chunkCount,
    messageStartTime: 0n,
    messageEndTime: BigInt(chunkCount) * chunkSpanNs - PERIOD_NS,
    channelMessageCounts: new Map(topics.map((_, index) => [index + 1, perChannel])),
  });
  for (let chunk = 0; chunk < chunkCount; chunk += 1) {
    const start = headBytes + chunk * bytes.byteLength;
    builder.writeChunkIndex({
      messageStartTime: BigInt(chunk) * chunkSpanNs,
      messageEndTime: BigInt(chunk + 1) * chunkSpanNs - PERIOD_NS,
      chunkStartOffset: BigInt(start),
      chunkLength: BigInt(facts.chunkBytes),
      messageIndexOffsets: new Map(facts.channels.map((index) => [index.channelId, BigInt(start + index.start)])),
      messageIndexLength: BigInt(facts.indexesBytes),
      compression: "",
      compressedSize: BigInt(facts.storedBytes),
      uncompressedSize: BigInt(facts.uncompressedBytes),
    });
  }
  builder.writeFooter({ summaryStart, summaryOffsetStart: 0n, summaryCrc: 0 });
  builder.writeMagic();
  return builder.buffer;
}
