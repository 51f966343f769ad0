import { zstdDecompressSync } from "node:zlib";
import { McapIndexedReader, McapStreamReader, type McapTypes } from "@mcap/core";
import { decompressFrameSync } from "lz4-napi";

export interface ReadMessage {
  readonly topic: string;
  readonly channelId: number;
  readonly messageEncoding: string;
  readonly schemaName: string;
  readonly schema: Uint8Array;
  readonly sequence: number;
  readonly logTimeNs: bigint;
  readonly publishTimeNs: bigint;
  readonly data: Uint8Array;
}

/** The messages of an MCAP file in file order, read forward by an independent library. Throws when it is not valid. */
export function readMessages(bytes: Uint8Array): ReadMessage[] {
  const { schemas, channels, records } = readRecords(bytes);
  return records
    .filter((record) => record.type === "Message")
    .map((message) => toReadMessage(message, channels, schemas));
}

/** The same through the file's own indexes, in log-time order. */
export async function readIndexedMessages(bytes: Uint8Array): Promise<ReadMessage[]> {
  const readable = {
    size: async () => BigInt(bytes.byteLength),
    read: async (offset: bigint, length: bigint) =>
      new Uint8Array(bytes.subarray(Number(offset), Number(offset + length))),
  };
  const reader = await McapIndexedReader.Initialize({ readable, decompressHandlers });
  const messages: ReadMessage[] = [];
  for await (const message of reader.readMessages({ validateCrcs: true })) {
    messages.push(toReadMessage(message, reader.channelsById, reader.schemasById));
  }
  return messages;
}

/** The identity of each message, whatever its channel's number. Bytes are texts, because arrays take long to compare. */
export function contentOf(messages: readonly ReadMessage[]): object[] {
  const asText = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");
  return messages.map(({ channelId, data, schema, ...rest }) => ({
    ...rest,
    data: asText(data),
    schema: asText(schema),
  }));
}

export interface ReadRecords {
  readonly schemas: Map<number, McapTypes.Schema>;
  readonly channels: Map<number, McapTypes.Channel>;
  /** All of them in file order; those inside chunks stand where their chunk stands. */
  readonly records: McapTypes.TypedMcapRecord[];
}

export function readRecords(bytes: Uint8Array): ReadRecords {
  const reader = new McapStreamReader({ decompressHandlers, validateCrcs: true, includeChunks: true });
  reader.append(bytes);
  const found: ReadRecords = { schemas: new Map(), channels: new Map(), records: [] };
  for (let record = reader.nextRecord(); record; record = reader.nextRecord()) {
    if (record.type === "Schema") found.schemas.set(record.id, record);
    if (record.type === "Channel") found.channels.set(record.id, record);
    found.records.push(record);
  }
  if (!reader.done()) throw new Error("the MCAP file is not whole");
  return found;
}

export const decompressHandlers: McapTypes.DecompressHandlers = {
  lz4: (bytes) => decompressFrameSync(Buffer.from(bytes)),
  zstd: (bytes) => zstdDecompressSync(bytes),
};

function toReadMessage(
  message: McapTypes.Message,
  channels: ReadonlyMap<number, McapTypes.Channel>,
  schemas: ReadonlyMap<number, McapTypes.Schema>,
): ReadMessage {
  const channel = channels.get(message.channelId)!;
  const schema = schemas.get(channel.schemaId);
  return {
    topic: channel.topic,
    channelId: channel.id,
    messageEncoding: channel.messageEncoding,
    schemaName: schema?.name ?? "",
    schema: schema?.data ?? new Uint8Array(0),
    sequence: message.sequence,
    logTimeNs: message.logTime,
    publishTimeNs: message.publishTime,
    data: message.data,
  };
}
