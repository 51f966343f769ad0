import { visitRecords } from "../bag1/chunk-records.ts";
import { readConnections } from "../bag1/read-connections.ts";
import { readRecord } from "../bag1/record-frame.ts";
import { magic, opcodeOf, opcodes } from "../bag1/records.ts";
import { toChunk } from "../bag1/to-survey.ts";
import { loadChunk } from "../reading/chunk.ts";
import { createReadContext } from "../reading/read-context.ts";
import { openWindowReader } from "../reading/window-reader.ts";
import { bytesSource } from "../sources/source.ts";
import type { BagMessage } from "./write-bag-messages.ts";

/** The messages of each chunk of a bag, chunks and messages in file order, by our own reader. */
export async function readBagChunks(bytes: Uint8Array): Promise<BagMessage[][]> {
  const context = createReadContext(bytesSource(bytes));
  const connections = await readConnections(context);
  const reader = openWindowReader(context);
  const chunks: BagMessage[][] = [];
  for (let offset: number = magic.byteLength; offset < bytes.byteLength; ) {
    const record = await readRecord(offset, { reader, context, code: "BadRecord" });
    offset = record.end;
    if (opcodeOf(record.header) !== opcodes.chunk) continue;
    const messages: BagMessage[] = [];
    visitRecords(await loadChunk(toChunk(record), context), "the chunk", {
      message: ({ channelId, logTimeNs, data }) =>
        messages.push({ connection: connections.get(channelId)!, logTimeNs, data }),
    });
    chunks.push(messages);
  }
  return chunks;
}

/** The messages of some bags in order of time; equal times in the order of bags and then of places in the file. */
export async function readBagsInOrder(...bags: Uint8Array[]): Promise<BagMessage[]> {
  const chunks = await Promise.all(bags.map(readBagChunks));
  return chunks.flat(2).sort((a, b) => Number(a.logTimeNs - b.logTimeNs));
}

export function topicOf({ connection }: BagMessage): string {
  return Buffer.from(connection.topic).toString();
}
