import { zstdCompressSync } from "node:zlib";
import { BLOCK, BLOCK_HEAD_BYTES, END, kinds, toyMagic } from "./toy-layout.ts";

export interface ToyMessage {
  readonly topic: string;
  readonly logTimeNs: bigint;
  readonly data: Uint8Array;
}

/** Writes a toy log with one block for each list of messages. */
export function makeToy(blocks: readonly (readonly ToyMessage[])[], compression: "" | "zstd" = "zstd"): Buffer {
  const topics = [...new Set(blocks.flat().map(({ topic }) => topic))];
  const channels = topics.map((topic, id) => encodeRecord(kinds.topic, [Uint8Array.of(id), Buffer.from(topic)]));
  const encoded = blocks.map((messages, number) => {
    const records = messages.map(({ topic, logTimeNs, data }) => {
      const time = Buffer.alloc(8);
      time.writeBigUInt64LE(logTimeNs);
      return encodeRecord(kinds.message, [Uint8Array.of(topics.indexOf(topic)), time, data]);
    });
    return encodeBlock(Buffer.concat([...(number === 0 ? channels : []), ...records]), compression);
  });
  return Buffer.concat([toyMagic, ...encoded, Uint8Array.of(END)]);
}

function encodeBlock(records: Buffer, compression: "" | "zstd"): Buffer {
  const stored = compression === "zstd" ? zstdCompressSync(records) : records;
  const head = Buffer.alloc(BLOCK_HEAD_BYTES);
  head[0] = BLOCK;
  head[1] = compression === "zstd" ? 1 : 0;
  head.writeUInt32LE(stored.byteLength, 2);
  head.writeUInt32LE(records.byteLength, 6);
  return Buffer.concat([head, stored]);
}

function encodeRecord(kind: number, parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const head = Buffer.alloc(5);
  head[0] = kind;
  head.writeUInt32LE(content.byteLength, 1);
  return Buffer.concat([head, content]);
}
