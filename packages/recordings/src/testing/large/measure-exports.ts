// Several exports at once in a process of their own, so that its memory is theirs: node measure-exports.ts JOB; prints JSON.
import { type FileHandle, open, readFile } from "node:fs/promises";
import { exportBag } from "../../export/export-bag.ts";
import { exportMcap } from "../../export/export-mcap.ts";
import type { ExportSource } from "../../export/plan/export-options.ts";
import { FileSource } from "../../sources/file-source.ts";
import type { RandomAccessSource } from "../../sources/source.ts";
import { measureTurns } from "./measure-turns.ts";

export interface ExportsJob {
  readonly files: string[];
  readonly count: number;
  readonly compression: "" | "lz4" | "zstd";
  readonly format: "mcap" | "bag1";
  readonly topics?: string[];
  readonly endNs?: string;
  /** The index that stands beside each file is used. */
  readonly isIndexed: boolean;
  /** Threads may read the files themselves. */
  readonly hasDescriptor: boolean;
  /** The first writes to it, the others to nowhere; the last takes some pieces and no more before the others are done. */
  readonly to: string;
}

export interface MeasuredExports {
  /** Peak of the process over what it held before the exports began. */
  readonly grownBytes: number;
  readonly longestTurnMs: number;
  readonly longestDelayMs: number;
  readonly cpuMs: number;
  readonly sizesBytes: number[];
}

const job: ExportsJob = JSON.parse(process.argv[2]!);
const { promise: othersAreDone, resolve: resolveOthersAreDone } = Promise.withResolvers<void>();
process.stdout.write(JSON.stringify(await measure()));

async function measure(): Promise<MeasuredExports> {
  await new Promise((resolve) => setTimeout(resolve, 100));
  const idleBytes = process.memoryUsage.rss();
  const turns = measureTurns();
  await using target = await open(job.to, "w");
  const others = Array.from({ length: job.count - 1 }, (_, index) => consume(index === 0 ? target : undefined));
  const last = consume(undefined, true);
  const sizesBytes = await Promise.all(others);
  resolveOthersAreDone();
  sizesBytes.push(await last);
  turns.end();
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const { longestMs: longestTurnMs, longestDelayMs } = turns;
  const cpuMs = (userCPUTime + systemCPUTime) / 1000;
  return { grownBytes: (await peakBytes()) - idleBytes, longestTurnMs, longestDelayMs, cpuMs, sizesBytes };
}

/** `maxRSS` would be that of the parent, where that one is larger: it is kept when the program is started. */
async function peakBytes(): Promise<number> {
  const status = await readFile("/proc/self/status", "utf8");
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)![1]) * 1024;
}

async function consume(target: FileHandle | undefined, isSlow = false): Promise<number> {
  let sizeBytes = 0;
  let pieces = 0;
  for await (const piece of startExport()) {
    sizeBytes += piece.byteLength;
    pieces += 1;
    await target?.writeFile(piece);
    // Takes nothing more while another waits for it, as a connection does that is full.
    if (isSlow && pieces === 4) await othersAreDone;
  }
  return sizeBytes;
}

function startExport(): AsyncGenerator<Uint8Array> {
  const { topics, endNs, format, compression } = job;
  const selection = { ...(topics && { topics }), ...(endNs !== undefined && { startNs: 0n, endNs: BigInt(endNs) }) };
  const sources = job.files.map(sourceOf);
  if (format === "bag1") return exportBag(sources, { ...selection, compression: compression as "" | "lz4" });
  return exportMcap(sources, { ...selection, compression });
}

function sourceOf(path: string): ExportSource {
  return {
    fileName: path,
    startNs: 0n,
    endNs: 2n ** 63n - 1n,
    open: async () => (job.hasDescriptor ? FileSource.open(path) : withoutDescriptor(await FileSource.open(path))),
    ...(job.isIndexed && { openIndex: () => FileSource.open(`${path}.index`) }),
  };
}

function withoutDescriptor(file: FileSource): RandomAccessSource & AsyncDisposable {
  return {
    sizeBytes: file.sizeBytes,
    read: (offset, length) => file.read(offset, length),
    [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
  };
}
