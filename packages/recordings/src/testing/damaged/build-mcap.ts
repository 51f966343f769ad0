import { crc32, zstdCompressSync } from "node:zlib";
import { compressFrameSync } from "lz4-napi";
import type { Dice } from "../odd/dice.ts";
import { gatherPieces } from "../odd/layout.ts";
import {
  type ChannelFields,
  type ChunkIndexFields,
  channelRecord,
  chunkIndexRecord,
  chunkRecord,
  dataEndRecord,
  footerRecord,
  headerRecord,
  type MessageFields,
  mcapMagic,
  messageIndexRecord,
  messageRecord,
  schemaRecord,
} from "../odd/record-bytes.ts";

/** A sound file, as a recorder of any kind writes it: with and without checksums, indexes and a summary. */
export interface BuiltMcap {
  readonly bytes: Buffer;
  readonly messages: readonly { readonly topic: string; readonly logTimeNs: bigint; readonly data: Uint8Array }[];
  readonly chunks: readonly BuiltChunk[];
  /** Whether its chunks have no checksum, or its summary has none. */
  readonly isUnchecked: boolean;
  /** Whether they are compressed. */
  readonly isPacked: boolean;
}

export interface BuiltChunk {
  readonly at: number;
  readonly contentAt: number;
  /** The end of its record, and of the message indexes behind it. */
  readonly end: number;
  readonly indexesEnd: number;
  readonly messageCount: number;
}

const topics = ["/robot/imu", "/robot/odom", "/robot/scan"];
const channels: readonly ChannelFields[] = topics.map((topic, index) => {
  return {
    id: index + 1,
    schemaId: (index % 2) + 1,
    topic,
    messageEncoding: "cdr",
    metadata: [["qos", "- history: 3"]],
  };
});
const schemas = [1, 2].map((id) => {
  return schemaRecord({
    id,
    name: `sensor_msgs/msg/Kind${id}`,
    encoding: "ros2msg",
    data: Buffer.from("float64 x\n".repeat(9)),
  });
});

const frames = { "": Buffer.from, lz4: compressFrameSync, zstd: zstdCompressSync } as const;

export interface McapStyle {
  readonly compression: keyof typeof frames;
  readonly hasChecksums: boolean;
  readonly hasIndexes: boolean;
  readonly hasSummary: boolean;
  readonly hasSummaryChecksum: boolean;
  /** Each chunk introduces its own channels, or only the first of them. */
  readonly repeatsChannels: boolean;
}

/** In a random style, or in a given one. */
export function buildMcap(dice: Dice, given: Partial<McapStyle> = {}): BuiltMcap {
  const style: McapStyle = {
    compression: dice.pick(["", "", "lz4", "zstd"]),
    hasChecksums: dice.chance(0.6),
    hasIndexes: dice.chance(0.7),
    hasSummary: dice.chance(0.5),
    hasSummaryChecksum: dice.chance(0.7),
    repeatsChannels: dice.chance(0.5),
    ...given,
  };
  const pieces = gatherPieces();
  const written: MessageFields[] = [];
  const indexes: ChunkIndexFields[] = [];
  const chunks: BuiltChunk[] = [];
  const introduced = new Set<number>();
  pieces.push(mcapMagic);
  pieces.push(headerRecord("damaged"));
  for (let left = dice.between(3, 8); left > 0; left -= 1) {
    const messages = makeMessages(dice, written.length);
    written.push(...messages);
    if (style.repeatsChannels) introduced.clear();
    const chunk = makeChunk(messages, introduced, style);
    const { offset, lengthBytes } = pieces.push(chunk.record);
    const end = offset + lengthBytes;
    for (const index of chunk.messageIndexes) pieces.push(index);
    indexes.push({ ...chunk.index, offset, indexesBytes: pieces.lengthBytes - end });
    const place = { at: offset, contentAt: end - chunk.index.storedBytes, end, indexesEnd: pieces.lengthBytes };
    chunks.push({ ...place, messageCount: messages.length });
  }
  pieces.push(dataEndRecord(0));
  pushEnd(
    pieces,
    style.hasSummary ? [...schemas, ...channels.map(channelRecord), ...indexes.map(chunkIndexRecord)] : [],
    style,
  );
  const messages = written.map(({ channelId, logTimeNs, data }) => ({
    topic: topics[channelId - 1]!,
    logTimeNs,
    data,
  }));
  const how = {
    isUnchecked: !style.hasChecksums || (style.hasSummary && !style.hasSummaryChecksum),
    isPacked: style.compression !== "",
  };
  return { bytes: pieces.join(), messages, chunks, ...how };
}

function makeMessages(dice: Dice, from: number): MessageFields[] {
  const bytes = dice.pick([20, 40, 300]);
  return Array.from({ length: dice.between(3, 25) }, (_, index) => {
    const logTimeNs = 1_767_323_045_000_000_000n + BigInt(from + index) * 10_000_000n;
    const data = dice.bytes(dice.between(bytes / 2, bytes));
    return {
      channelId: dice.between(1, topics.length),
      sequence: from + index,
      logTimeNs,
      publishTimeNs: logTimeNs,
      data,
    };
  });
}

function makeChunk(messages: readonly MessageFields[], introduced: Set<number>, style: McapStyle) {
  const { compression, hasChecksums, hasIndexes } = style;
  const records: Buffer[] = [];
  const entries = new Map<number, { timeNs: bigint; offset: number }[]>();
  let offset = 0;
  const push = (record: Buffer): void => {
    records.push(record);
    offset += record.byteLength;
  };
  for (const message of messages) {
    const { channelId, logTimeNs } = message;
    if (!introduced.has(channelId)) for (const record of definitionsOf(channelId)) push(record);
    introduced.add(channelId);
    entries.set(channelId, [...(entries.get(channelId) ?? []), { timeNs: logTimeNs, offset }]);
    push(messageRecord(message));
  }
  const content = Buffer.concat(records);
  const stored = Buffer.from(frames[compression](content));
  const [startNs, endNs] = [messages[0]!.logTimeNs, messages.at(-1)!.logTimeNs];
  const about = { startNs, endNs, uncompressedBytes: content.byteLength, compression };
  const crc = hasChecksums ? crc32(content) : 0;
  const record = chunkRecord({ ...about, crc, stored, added: Buffer.alloc(0) });
  const messageIndexes = hasIndexes
    ? [...entries].map(([channelId, list]) => messageIndexRecord({ channelId, entries: list }))
    : [];
  const index = { ...about, chunkBytes: record.byteLength, storedBytes: stored.byteLength, indexOffsets: [] };
  return { record, messageIndexes, index };
}

function definitionsOf(channelId: number): Buffer[] {
  const channel = channels[channelId - 1]!;
  return [schemas[channel.schemaId - 1]!, channelRecord(channel)];
}

function pushEnd(
  pieces: ReturnType<typeof gatherPieces>,
  summary: readonly Buffer[],
  { hasSummaryChecksum }: McapStyle,
): void {
  const summaryStart = summary.length > 0 ? pieces.lengthBytes : 0;
  const section = Buffer.concat(summary);
  pieces.push(section);
  const footer = footerRecord({ summaryStart, summaryOffsetStart: 0, crc: 0 });
  const crc = hasSummaryChecksum ? crc32(footer.subarray(0, -4), crc32(section)) : 0;
  pieces.push(footerRecord({ summaryStart, summaryOffsetStart: 0, crc }));
  pieces.push(mcapMagic);
}
