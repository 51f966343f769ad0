import { readRecords } from "./read-messages.ts";
import { writeMessages } from "./write-messages.ts";

type Compression = "" | "lz4" | "zstd";

const made = new Map<Compression, Promise<Uint8Array>>();

/** A file of about 100 chunks of one topic, about 10 messages each. It is made once, and every caller gets a copy. */
export async function hundredChunks(compression: Compression): Promise<Uint8Array> {
  const making = made.get(compression) ?? makeHundredChunks(compression);
  made.set(compression, making);
  return (await making).slice();
}

function makeHundredChunks(compression: Compression): Promise<Uint8Array> {
  const messages = Array.from({ length: 1000 }, (_, index) => {
    return { topic: "/a", logTimeNs: BigInt(index), data: Buffer.alloc(100, `${index} of a thousand `) };
  });
  return writeMessages({ messages, topics: ["/a"], schema: "one", compression, chunkBytes: 1240, isIndexed: true });
}

export interface Place {
  readonly at: number;
  readonly bytes: number;
  readonly messageCount: number;
  /** The end of the chunk with its message indexes. */
  readonly end: number;
}

/** Lists the chunks by the file's own summary. */
export function chunksOf(bytes: Uint8Array): Place[] {
  const { records } = readRecords(bytes);
  const counts = records.filter((record) => record.type === "MessageIndex").map((index) => index.records.length);
  return records
    .filter((record) => record.type === "ChunkIndex")
    .map(({ chunkStartOffset, chunkLength, messageIndexLength }, index) => {
      const [at, size] = [Number(chunkStartOffset), Number(chunkLength)];
      return { at, bytes: size, end: at + size + Number(messageIndexLength), messageCount: counts[index]! };
    });
}
