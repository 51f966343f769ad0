import { open } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { McapIndexedReader } from "@mcap/core";
import { decompressHandlers } from "./read-messages.ts";

export interface TopicDigest {
  messages: number;
  dataBytes: number;
  /** The checksum of sequence, times and data of all messages in the order of their log times. */
  crc: number;
}

/** Digests the messages of an MCAP file by topic, read by an independent library through the file's own indexes. */
export async function digestMessages(path: string): Promise<Record<string, TopicDigest>> {
  await using file = await open(path);
  const { size } = await file.stat();
  const readable = {
    size: async () => BigInt(size),
    async read(offset: bigint, length: bigint) {
      const bytes = new Uint8Array(Number(length));
      await file.read(bytes, 0, bytes.byteLength, Number(offset));
      return bytes;
    },
  };
  const reader = await McapIndexedReader.Initialize({ readable, decompressHandlers });
  const digests: Record<string, TopicDigest> = {};
  const head = new DataView(new ArrayBuffer(20));
  const headBytes = new Uint8Array(head.buffer);
  for await (const { channelId, sequence, logTime, publishTime, data } of reader.readMessages({ validateCrcs: true })) {
    const { topic } = reader.channelsById.get(channelId)!;
    digests[topic] ??= { messages: 0, dataBytes: 0, crc: 0 };
    const digest = digests[topic];
    head.setUint32(0, sequence);
    head.setBigUint64(4, logTime);
    head.setBigUint64(12, publishTime);
    digest.messages += 1;
    digest.dataBytes += data.byteLength;
    digest.crc = crc32(data, crc32(headBytes, digest.crc));
  }
  return digests;
}
