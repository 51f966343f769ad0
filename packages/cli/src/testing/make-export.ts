import { zstdCompressSync } from "node:zlib";
import type { Encoded } from "@downlink/messages/decode";
import { McapWriter } from "@mcap/core";

export interface ExportedMessage {
  readonly topic: string;
  readonly logTimeNs: bigint;
  readonly data: Uint8Array;
}

/** Makes an export as the service does, with a channel for each topic, whose messages are all of one form. */
export async function makeExport(encoded: Encoded, messages: readonly ExportedMessage[]): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  const writable = {
    position: () => BigInt(pieces.reduce((sum, { length }) => sum + length, 0)),
    write: async (bytes: Uint8Array) => void pieces.push(bytes.slice()),
  };
  const compressChunk = (bytes: Uint8Array) => ({ compression: "zstd", compressedData: zstdCompressSync(bytes) });
  const writer = new McapWriter({ writable, chunkSize: 1000, compressChunk });
  await writer.start({ profile: "", library: "" });
  const { messageEncoding, schemaName: name, schemaEncoding: encoding, schema: data } = encoded;
  const schemaId = await writer.registerSchema({ name, encoding, data });
  const channels = new Map<string, number>();
  for (const [sequence, { topic, logTimeNs, data }] of messages.entries()) {
    const channelId =
      channels.get(topic) ?? (await writer.registerChannel({ schemaId, topic, messageEncoding, metadata: new Map() }));
    channels.set(topic, channelId);
    await writer.addMessage({ channelId, sequence, logTime: logTimeNs, publishTime: logTimeNs, data });
  }
  await writer.end();
  return Buffer.concat(pieces);
}
