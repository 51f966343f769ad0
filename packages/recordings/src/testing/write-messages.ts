import { McapWriter } from "@mcap/core";
import { compressWith } from "./make-mcap.ts";

export interface WrittenMessage {
  readonly topic: string;
  readonly logTimeNs: bigint;
  readonly data: Uint8Array;
}

export interface WrittenFile {
  /** The messages in the order in which they are written. */
  readonly messages: readonly WrittenMessage[];
  /** Are registered in this order, messages or not. */
  readonly topics: readonly string[];
  /** The text of every schema; another text is another schema. */
  readonly schema: string;
  /** Whether all topics share one schema. By default each has its own, under the topic's name. */
  readonly sharesSchema?: boolean;
  readonly compression: "" | "lz4" | "zstd";
  readonly chunkBytes: number;
  readonly isIndexed: boolean;
}

/** An MCAP file of given messages, written by an independent library. */
export async function writeMessages(file: WrittenFile): Promise<Uint8Array> {
  const { messages, topics, schema, compression, chunkBytes, isIndexed } = file;
  const pieces: Uint8Array[] = [];
  let position = 0n;
  const writable = {
    position: () => position,
    async write(bytes: Uint8Array) {
      position += BigInt(bytes.byteLength);
      pieces.push(new Uint8Array(bytes));
    },
  };
  const compressChunk = compression === "" ? undefined : compressWith(compression);
  const features = isIndexed ? {} : { useChunkIndex: false, useStatistics: false, repeatChannels: false };
  const writer = new McapWriter({ writable, chunkSize: chunkBytes, compressChunk, ...features });
  await writer.start({ profile: "", library: "downlink fixtures" });
  const channelIds = new Map<string, number>();
  let schemaId: number | undefined;
  for (const topic of topics) {
    if (schemaId === undefined || !file.sharesSchema)
      schemaId = await writer.registerSchema({ name: topic, encoding: "text", data: Buffer.from(schema) });
    const about = { schemaId, topic, messageEncoding: "text", metadata: new Map() };
    channelIds.set(topic, await writer.registerChannel(about));
  }
  for (const [sequence, { topic, logTimeNs, data }] of messages.entries()) {
    const channelId = channelIds.get(topic)!;
    await writer.addMessage({ channelId, sequence, logTime: logTimeNs, publishTime: logTimeNs, data });
  }
  await writer.end();
  return new Uint8Array(Buffer.concat(pieces));
}
