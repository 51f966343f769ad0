import { zstdDecompressSync } from "node:zlib";
import { McapStreamReader } from "@mcap/core";
import type { Encoded } from "./decode.ts";
import { DecodeError } from "./value.ts";

/** A topic as one recording has it. The same object stands with all of its messages. */
export interface Channel extends Encoded {
  readonly topic: string;
}

export interface Message {
  readonly channel: Channel;
  readonly logTimeNs: bigint;
  readonly publishTimeNs: bigint;
  /** As its publisher counts, from 0 to 2³² − 1; 0 where it does not. */
  readonly sequence: number;
  /** Valid until the next message is asked for. */
  readonly data: Uint8Array;
}

type McapRecord = NonNullable<ReturnType<McapStreamReader["nextRecord"]>>;

/**
 * Yields the messages of an MCAP stream as they come; a chunk is in memory at a time. Throws {@link DecodeError} for bytes that are none, and
 * what the stream throws.
 */
export async function* readMcap(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Message> {
  const reader = new McapStreamReader({ decompressHandlers: { zstd: decompress } });
  const toMessage = collectChannels();
  for await (const piece of stream) {
    reader.append(piece);
    for (let record = next(reader); record; record = next(reader)) {
      const message = toMessage(record);
      if (message) yield message;
    }
  }
  if (!reader.done()) throw new DecodeError("The data ended before its last record.");
}

function next(reader: McapStreamReader): McapRecord | undefined {
  try {
    return reader.nextRecord();
  } catch (cause) {
    throw new DecodeError(`The data that came cannot be read as MCAP: ${(cause as Error).message}`, { cause });
  }
}

function decompress(bytes: Uint8Array, sizeBytes: bigint): Uint8Array {
  return zstdDecompressSync(bytes, { maxOutputLength: Number(sizeBytes) });
}

function collectChannels() {
  const schemas = new Map<number, Extract<McapRecord, { type: "Schema" }>>();
  const channels = new Map<number, Channel>();
  return (record: McapRecord): Message | undefined => {
    if (record.type === "Schema") schemas.set(record.id, { ...record, data: record.data.slice() });
    if (record.type === "Channel" && !channels.has(record.id)) {
      const { name = "", encoding = "", data = new Uint8Array() } = schemas.get(record.schemaId) ?? {};
      const { topic, messageEncoding } = record;
      channels.set(record.id, { topic, messageEncoding, schemaName: name, schemaEncoding: encoding, schema: data });
    }
    if (record.type !== "Message") return undefined;
    const channel = channels.get(record.channelId);
    if (!channel) throw new DecodeError(`The data that came has no channel ${record.channelId}.`);
    const { logTime: logTimeNs, publishTime: publishTimeNs, sequence, data } = record;
    return { channel, logTimeNs, publishTimeNs, sequence, data };
  };
}
