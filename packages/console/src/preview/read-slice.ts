import type { Encoded } from "@downlink/messages/decode";
import { McapStreamReader } from "@mcap/core";
import { previewLimits } from "./limits.ts";

/** The messages that were read of an export: those of each topic, by log time. */
export interface Slice {
  /** The log time of its first message. Other times are nanoseconds after it, as numbers: a double counts them for 104 days. */
  readonly originNs: bigint;
  readonly topics: ReadonlyMap<string, SliceTopic>;
  readonly bytes: number;
  readonly messageCount: number;
  /** `limit`: more would follow. `damage`: what came cannot be read further. */
  readonly end: "complete" | "limit" | "damage";
}

export interface SliceTopic {
  readonly topic: string;
  readonly messages: SliceMessage[];
}

export interface SliceMessage {
  readonly timeNs: number;
  readonly data: Uint8Array;
  readonly encoded: Encoded;
}

export interface ReadSliceOptions {
  readonly maxBytes?: number;
  readonly maxMessages?: number;
  /** Is called after each piece, to show that it goes on. */
  readonly onProgress?: (bytes: number) => void;
}

/** Reads an export without compression. Data after the limits is not read: the stream is cancelled. */
export async function readSlice(stream: ReadableStream<Uint8Array>, options: ReadSliceOptions = {}): Promise<Slice> {
  const { maxBytes = previewLimits.bytes, maxMessages = previewLimits.messages, onProgress } = options;
  const collected = collectMessages();
  const reader = new McapStreamReader({ validateCrcs: false });
  const body = stream.getReader();
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await body.read();
      if (done) return collected.finish(bytes, reader.done() ? "complete" : "damage");
      bytes += value.byteLength;
      const isSound = readRecords(reader, value, (record) => collected.add(record) < maxMessages);
      onProgress?.(bytes);
      if (!isSound) return collected.finish(bytes, "damage");
      if (bytes >= maxBytes || collected.count() >= maxMessages) return collected.finish(bytes, "limit");
    }
  } finally {
    await body.cancel().catch(() => undefined);
  }
}

type McapRecord = NonNullable<ReturnType<McapStreamReader["nextRecord"]>>;

/** Returns false where the bytes are no MCAP. */
function readRecords(reader: McapStreamReader, piece: Uint8Array, take: (record: McapRecord) => boolean): boolean {
  try {
    reader.append(piece);
    for (let record = reader.nextRecord(); record; record = reader.nextRecord()) if (!take(record)) return true;
    return true;
  } catch {
    return false;
  }
}

interface Channel {
  readonly topic: SliceTopic;
  readonly encoded: Encoded;
}

function collectMessages() {
  const schemas = new Map<number, { name: string; encoding: string; data: Uint8Array }>();
  const channels = new Map<number, Channel>();
  const topics = new Map<string, SliceTopic>();
  let originNs: bigint | undefined;
  let count = 0;
  const add = (record: McapRecord): number => {
    if (record.type === "Schema") schemas.set(record.id, { ...record, data: record.data.slice() });
    if (record.type === "Channel") channels.set(record.id, channelOf(record, schemas.get(record.schemaId), topics));
    if (record.type !== "Message") return count;
    const { topic, encoded } = channels.get(record.channelId)!;
    originNs ??= record.logTime;
    topic.messages.push({ timeNs: Number(record.logTime - originNs), data: record.data, encoded });
    count += 1;
    return count;
  };
  const finish = (bytes: number, end: Slice["end"]): Slice => {
    for (const { messages } of topics.values()) messages.sort((a, b) => a.timeNs - b.timeNs);
    return { originNs: originNs ?? 0n, topics, bytes, messageCount: count, end };
  };
  return { add, finish, count: () => count };
}

function channelOf(
  channel: { readonly topic: string; readonly messageEncoding: string },
  schema: { readonly name: string; readonly encoding: string; readonly data: Uint8Array } | undefined,
  topics: Map<string, SliceTopic>,
): Channel {
  const topic = topics.get(channel.topic) ?? { topic: channel.topic, messages: [] };
  topics.set(channel.topic, topic);
  const encoded = {
    messageEncoding: channel.messageEncoding,
    schemaEncoding: schema?.encoding ?? "",
    schemaName: schema?.name ?? "",
    schema: schema?.data ?? new Uint8Array(),
  };
  return { topic, encoded };
}
