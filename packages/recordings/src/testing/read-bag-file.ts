import { visitRecords } from "../bag1/chunk-records.ts";
import { surveyFinishedBag } from "../bag1/inspect-bag.ts";
import { readConnections } from "../bag1/read-connections.ts";
import type { BagMessage } from "../export/bag/fill-chunks.ts";
import { loadRun, type MessageRun } from "../message-run.ts";
import { createReadContext } from "../read-context.ts";
import { bytesSource } from "../source.ts";

/** The messages of each chunk of a bag, chunks and messages in file order, by our own reader. */
export async function readBagChunks(bytes: Uint8Array): Promise<BagMessage[][]> {
  const context = createReadContext(bytesSource(bytes));
  const connections = await readConnections(context);
  const runs: MessageRun[] = [];
  await surveyFinishedBag(context, { onRun: (run) => runs.push(run) });
  const chunks: BagMessage[][] = [];
  for (const run of runs) {
    const messages: BagMessage[] = [];
    visitRecords(await loadRun(run, context), "the chunk", {
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
