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

/** The records of the chunk that is being filled, and counts over all chunks of the file. */
export interface ChunkBody {
  ids: IdTable;
  /** From the ids of the source to those of the written file. */
  introduced: Map<number, number>;
  messageCounts: Map<number, bigint>;
  whole: Span;
  builder: McapRecordBuilder;
  indexes: MessageIndexes;
  span: Span;
}

export interface TakenChunk {
  records: Uint8Array;
  startNs: bigint;
  endNs: bigint;
  indexes: MessageIndexes;
}

/** Log time and offset in the chunk, for each channel. */
type MessageIndexes = Map<number, [bigint, bigint][]>;

interface Span {
  startNs?: bigint;
  endNs?: bigint;
}

export function createChunkBody(ids: IdTable): ChunkBody {
  const builder = new McapRecordBuilder();
  return { ids, introduced: new Map(), messageCounts: new Map(), whole: {}, builder, indexes: new Map(), span: {} };
}

export function hasMessages({ indexes }: ChunkBody): boolean {
  return indexes.size > 0;
}

/** A chunk without messages has room for any one message. */
export function hasRoom(body: ChunkBody, entry: ChunkEntry): boolean {
  if (!hasMessages(body)) return true;
  const newBytes = body.introduced.has(entry.channel.id) ? 0 : boundRecords(entry);
  const messageBytes = recordHeadBytes + messageHeadBytes + entry.message.data.byteLength;
  return body.builder.length + newBytes + messageBytes <= maxChunkBytes;
}

/** Wire contract §5 allows 4 MiB; the LZ4 library keeps some hundred times a chunk of memory for itself. */
const maxChunkBytes = 1024 * 1024;

export function addMessage(body: ChunkBody, entry: ChunkEntry): void {
  const { builder, indexes, messageCounts } = body;
  const { sequence, logTimeNs, publishTimeNs, data } = entry.message;
  const channelId = body.introduced.get(entry.channel.id) ?? introduce(body, entry);
  const entries = indexes.get(channelId) ?? [];
  if (entries.length === 0) indexes.set(channelId, entries);
  entries.push([logTimeNs, BigInt(builder.length)]);
  builder.writeMessage({ channelId, sequence, logTime: logTimeNs, publishTime: publishTimeNs, data });
  extendSpan(body.span, logTimeNs, logTimeNs);
  messageCounts.set(channelId, (messageCounts.get(channelId) ?? 0n) + 1n);
}

/** Ends the chunk and begins the next one. */
export function takeChunk(body: ChunkBody): TakenChunk {
  const { startNs = 0n, endNs = 0n } = body.span;
  const taken = { records: body.builder.buffer, startNs, endNs, indexes: body.indexes };
  extendSpan(body.whole, startNs, endNs);
  // One large message must not keep its memory for the rest of the file.
  if (body.builder.length > maxChunkBytes) body.builder = new McapRecordBuilder();
  body.builder.reset();
  body.indexes = new Map();
  body.span = {};
  return taken;
}

export function encodeStatistics(
  { ids, messageCounts, whole }: ChunkBody,
  counts: { attachmentCount: number; metadataCount: number; chunkCount: number },
): Uint8Array {
  const builder = new McapRecordBuilder();
  builder.writeStatistics({
    ...counts,
    messageCount: [...messageCounts.values()].reduce((sum, count) => sum + count, 0n),
    schemaCount: ids.schemaCount,
    channelCount: ids.channelCount,
    messageStartTime: whole.startNs ?? 0n,
    messageEndTime: whole.endNs ?? 0n,
    channelMessageCounts: messageCounts,
  });
  return builder.buffer;
}

function introduce(body: ChunkBody, { channel, schema }: ChunkEntry): number {
  const channelId = body.ids.introduce(channel, schema, body.builder);
  body.introduced.set(channel.id, channelId);
  return channelId;
}

/** At least as many bytes as the records of channel and schema take; a character takes at most three. */
function boundRecords({ channel, schema }: ChunkEntry): number {
  const { topic, messageEncoding, metadata } = channel;
  let characters = 0;
  for (const text of [topic, messageEncoding, schema?.name, schema?.encoding, ...Object.entries(metadata).flat()]) {
    characters += (text?.length ?? 0) + 4;
  }
  return 3 * characters + (schema?.data.byteLength ?? 0) + 2 * recordHeadBytes + 32;
}
