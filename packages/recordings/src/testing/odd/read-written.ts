import { McapIndexedReader, McapStreamReader, type McapTypes } from "@mcap/core";
import { textOf } from "../odd-mcap.ts";
import { slowDecompress } from "../slow-decompress.ts";
import type { Content } from "./content-key.ts";

export interface Written {
  /** The messages in the order of the file. */
  readonly messages: Content[];
  /** The report in the file of the parts that were left out: the metadata records named `downlink.export`. */
  readonly reported: ReadonlyMap<string, string>[];
}

/** A chunk of several frames may be passed on, as both formats allow it; one with rubbish behind them may not. */
const decompressHandlers: McapTypes.DecompressHandlers = {
  lz4: (bytes) => decompress("lz4", bytes),
  zstd: (bytes) => decompress("zstd", bytes),
};

function decompress(compression: string, stored: Uint8Array): Uint8Array {
  const { bytes, restBytes } = slowDecompress(compression, stored);
  if (restBytes > 0) throw new Error(`${restBytes} bytes stand behind the last frame of a chunk`);
  return bytes;
}

/** Reads forward with every checksum, by an independent library. Throws when the file is not valid. */
export function readForward(bytes: Uint8Array): Written {
  const reader = new McapStreamReader({ decompressHandlers, validateCrcs: true });
  reader.append(bytes);
  const definitions = { channels: new Map<number, McapTypes.Channel>(), schemas: new Map<number, McapTypes.Schema>() };
  const written: Written = { messages: [], reported: [] };
  for (let record = reader.nextRecord(); record; record = reader.nextRecord()) {
    if (record.type === "Schema") definitions.schemas.set(record.id, record);
    if (record.type === "Channel") definitions.channels.set(record.id, record);
    if (record.type === "Message") written.messages.push(toContent(record, definitions));
    if (record.type === "Metadata" && record.name === "downlink.export") written.reported.push(record.metadata);
  }
  if (!reader.done()) throw new Error("the file is not whole");
  return written;
}

/** Reads by the file's own indexes, in the order that they give. */
export async function readByIndex(bytes: Uint8Array): Promise<Content[]> {
  const readable = {
    size: async () => BigInt(bytes.byteLength),
    read: async (offset: bigint, length: bigint) => bytes.slice(Number(offset), Number(offset + length)),
  };
  const reader = await McapIndexedReader.Initialize({ readable, decompressHandlers });
  const definitions = { channels: reader.channelsById, schemas: reader.schemasById };
  return Array.fromAsync(reader.readMessages({ validateCrcs: true }), (message) => toContent(message, definitions));
}

interface Definitions {
  readonly channels: ReadonlyMap<number, McapTypes.Channel>;
  readonly schemas: ReadonlyMap<number, McapTypes.Schema>;
}

function toContent(
  { logTime, publishTime, ...message }: McapTypes.Message,
  { channels, schemas }: Definitions,
): Content {
  const channel = channels.get(message.channelId);
  if (!channel) throw new Error(`the file has no channel ${message.channelId}`);
  const schema = schemas.get(channel.schemaId);
  if (!schema && channel.schemaId !== 0) throw new Error(`the file has no schema ${channel.schemaId}`);
  return {
    topic: textOf(channel.topic),
    messageEncoding: textOf(channel.messageEncoding),
    schemaName: textOf(schema?.name ?? ""),
    logTimeNs: logTime,
    publishTimeNs: publishTime,
    sequence: message.sequence,
    data: message.data,
  };
}
