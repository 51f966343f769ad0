// Indexes and exports files at once in a process of its own, so that its memory is theirs: node measure-indexing.ts JOB; prints JSON.
import { readFile } from "node:fs/promises";
import { exportMcap, FileSource } from "@downlink/recordings";
import { measureTurns } from "@downlink/recordings/testing";
import { openFileIndexer } from "../file-indexer.ts";

export interface IndexingJob {
  /** The files to index, all at once. */
  readonly indexed: string[];
  /** The files to export, each with its index. */
  readonly exported: string[];
}

export interface MeasuredIndexing {
  /** The peak memory of the process above what it held before. */
  readonly grownBytes: number;
  /** The longest turn of the main thread, in processor time. */
  readonly longestTurnMs: number;
  /** The number of messages of each file. */
  readonly messageCounts: number[];
}

const { indexed, exported }: IndexingJob = JSON.parse(process.argv[2]!);
process.stdout.write(JSON.stringify(await measure()));

async function measure(): Promise<MeasuredIndexing> {
  await new Promise((resolve) => setTimeout(resolve, 100));
  const idleBytes = process.memoryUsage.rss();
  const turns = measureTurns();
  await using indexer = openFileIndexer();
  const counts = indexed.map(async (path) => {
    await using source = await FileSource.open(path);
    const file = { fileName: path, signal: new AbortController().signal, store: drop };
    const { verdict } = await indexer.index(source, file);
    return "summary" in verdict ? verdict.summary.messageCount : -1;
  });
  const [messageCounts] = await Promise.all([Promise.all(counts), Promise.all(exported.map(exportFile))]);
  turns.end();
  return { grownBytes: (await peakBytes()) - idleBytes, longestTurnMs: turns.longestMs, messageCounts };
}

async function exportFile(path: string): Promise<void> {
  const openIndex = () => FileSource.open(`${path}.index`);
  const span = { startNs: 0n, endNs: 2n ** 63n - 1n };
  const source = { fileName: path, ...span, open: () => FileSource.open(path), openIndex };
  await drop(exportMcap([source], { compression: "lz4" }));
}

async function drop(pieces: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of pieces);
}

async function peakBytes(): Promise<number> {
  const status = await readFile("/proc/self/status", "utf8");
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)![1]) * 1024;
}
