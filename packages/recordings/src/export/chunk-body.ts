import { McapRecordBuilder } from "@mcap/core";
import { messageHeadBytes, recordHeadBytes } from "../mcap/opcodes.ts";
import type { RawMessage } from "../message-run.ts";
import { type Channel, extendSpan, type Schema } from "../survey.ts";
import type { IdTable } from "./id-table.ts";

/** A message with the channel and schema that it had in its source. */
export interface ChunkEntry {
  message: RawMessage;
  channel: Channel;
  schema: Schema | undefined;
}

export interface TakenChunk {
  records: Uint8Array;
  startNs: bigint;
  endNs: bigint;
  /** Log time and offset in the chunk, for each channel. */
  indexes: Map<number, [bigint, bigint][]>;
}

/** Gathers the records of one chunk at a time, and counts over all of them. */
export function createChunkBody(ids: IdTable) {
  const introduced = new Map<number, number>();
  const messageCounts = new Map<number, bigint>();
  const whole: Span = {};
  let builder = new McapRecordBuilder();
  let indexes: TakenChunk["indexes"] = new Map();
  let span: Span = {};

  const introduce = ({ channel, schema }: ChunkEntry): number => {
    const channelId = ids.introduce(channel, schema, builder);
    introduced.set(channel.id, channelId);
    return channelId;
  };

  const fits = (entry: ChunkEntry): boolean => {
    if (indexes.size === 0) return true;
    const newBytes = introduced.has(entry.channel.id) ? 0 : boundRecords(entry);
    return builder.length + newBytes + recordHeadBytes + messageHeadBytes + entry.message.data.byteLength <= maxChunkBytes;
  };

  const add = (entry: ChunkEntry): void => {
    const { sequence, logTimeNs, publishTimeNs, data } = entry.message;
    const channelId = introduced.get(entry.channel.id) ?? introduce(entry);
    const entries = indexes.get(channelId) ?? [];
    if (entries.length === 0) indexes.set(channelId, entries);
    entries.push([logTimeNs, BigInt(builder.length)]);
    builder.writeMessage({ channelId, sequence, logTime: logTimeNs, publishTime: publishTimeNs, data });
    extendSpan(span, logTimeNs, logTimeNs);
    messageCounts.set(channelId, (messageCounts.get(channelId) ?? 0n) + 1n);
  };

  const take = (): TakenChunk => {
    const taken = { records: builder.buffer, startNs: span.startNs ?? 0n, endNs: span.endNs ?? 0n, indexes };
    extendSpan(whole, taken.startNs, taken.endNs);
    // One large message must not keep its memory for the rest of the file.
    if (builder.length > maxChunkBytes) builder = new McapRecordBuilder();
    builder.reset();
    indexes = new Map();
    span = {};
    return taken;
  };

  const encodeStatistics = (counts: { attachments: number; metadata: number; chunks: number }): Uint8Array => {
    const statistics = new McapRecordBuilder();
    statistics.writeStatistics({
      messageCount: [...messageCounts.values()].reduce((sum, count) => sum + count, 0n),
      schemaCount: ids.schemaCount,
      channelCount: ids.channelCount,
      attachmentCount: counts.attachments,
      metadataCount: counts.metadata,
      chunkCount: counts.chunks,
      messageStartTime: whole.startNs ?? 0n,
      messageEndTime: whole.endNs ?? 0n,
      channelMessageCounts: messageCounts,
    });
    return statistics.buffer;
  };

  return { fits, add, take, hasMessages: () => indexes.size > 0, encodeStatistics };
}

interface Span {
  startNs?: bigint;
  endNs?: bigint;
}

/** At least as many bytes as the records of channel and schema take; a character takes at most three. */
function boundRecords({ channel, schema }: ChunkEntry): number {
  const texts = [channel.topic, channel.messageEncoding, schema?.name, schema?.encoding, ...Object.entries(channel.metadata).flat()];
  let characters = 0;
  for (const text of texts) characters += (text?.length ?? 0) + 4;
  return 3 * characters + (schema?.data.byteLength ?? 0) + 2 * recordHeadBytes + 32;
}

/** Wire contract §5. */
const maxChunkBytes = 4 * 1024 * 1024;
