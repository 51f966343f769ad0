// One measurement in a process of its own, so that its memory is its own: node child.ts JOB; prints what was measured as JSON.
import { execFileSync } from "node:child_process";
import { type FileHandle, open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import {
  type ExportSelection,
  type ExportSource,
  exportMcap,
  FileSource,
  indexRecording,
  type RandomAccessSource,
  splitRecording,
} from "@downlink/recordings";
import type { TopicDigest } from "@downlink/recordings/testing";

/** Times are decimal texts of nanoseconds, because JSON has no large numbers. */
export interface Job extends Task {
  what: "cp" | "library" | "export" | "export8" | "huge" | "digest" | "index" | "split";
  hugeBytes?: number;
  /**
   * A smaller recording of the same kind that is exported before the clock starts: the threads of a server run already, and have compiled
   * their code.
   */
  warmBy?: string;
}

/** The export: from where to where, and what. */
export interface Task {
  from: string;
  to: string;
  compression: "" | "lz4" | "zstd";
  topics?: readonly string[];
  startNs?: string;
  endNs?: string;
}

export interface Measured {
  ms: number;
  firstByteMs: number;
  bytes: number;
  maxRssBytes: number;
  /** The bytes that all threads read from files, including files in memory. */
  readBytes: number;
  /** The CPU time of all threads, which says more than the time if the machine does other things too. */
  cpuMs: number;
  /** The time at which each of several exports ended. */
  endsMs: number[];
}

const FREED_BYTES = 64 * 1024;
const job: Job = JSON.parse(process.argv[2]!);
const fileSource = makeFileSource(job.from);
if (job.warmBy !== undefined) await warmUp(makeFileSource(job.warmBy));
const startedMs = performance.now();
const startReadBytes = await countRead();
const startCpuMs = process.cpuUsage().user / 1000 + process.cpuUsage().system / 1000;
const elapsed = (): number => performance.now() - startedMs;
process.stdout.write(JSON.stringify(await answer()));

async function answer(): Promise<unknown> {
  if (job.what === "digest") return runDigest();
  return job.what === "index" ? runIndex() : measure();
}

async function runDigest(): Promise<Record<string, TopicDigest>> {
  const { digestMessages } = await import("@downlink/recordings/testing");
  return digestMessages(job.from);
}

/** Makes the index as an import does, beside the recording. */
async function runIndex(): Promise<{ state: string }> {
  await using file = await FileSource.open(job.from);
  await using index = await open(indexPathOf(job.from), "w");
  const write = async (piece: Uint8Array): Promise<void> => index.writeFile(piece);
  const { state } = await indexRecording(file, { fileName: job.from, write });
  return { state };
}

/** Exports two at once, for both threads, and several times, as in a server that has exported before. */
async function warmUp(source: ExportSource): Promise<void> {
  const { topics, compression } = job;
  const exportOnce = async (): Promise<void> => {
    for await (const piece of exportMcap([source], { compression, topics })) await consume(piece, undefined);
  };
  for (let round = 0; round < 4; round += 1) await Promise.all([exportOnce(), exportOnce()]);
}

async function measure(): Promise<Measured> {
  const measured = await run();
  const ms = elapsed();
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  const cpuMs = (userCPUTime + systemCPUTime) / 1000 - startCpuMs;
  const own = { maxRssBytes: maxRSS * 1024, readBytes: (await countRead()) - startReadBytes, cpuMs };
  return { ms, firstByteMs: 0, bytes: 0, endsMs: [], ...own, ...measured };
}

/** Linux counts what a process reads; elsewhere it is not known. */
async function countRead(): Promise<number> {
  const text = await readFile("/proc/self/io", "utf8").catch(() => "");
  return Number(/^rchar: (\d+)$/m.exec(text)?.[1] ?? Number.NaN);
}

async function run(): Promise<Partial<Measured>> {
  if (job.what === "cp") return runCp();
  if (job.what === "library") await runLibrary();
  if (job.what === "export") return runExport(fileSource, job.to);
  if (job.what === "export8") return runEight();
  if (job.what === "huge") return runHuge();
  if (job.what === "split") await runSplit();
  return {};
}

/** The shell knows the CPU time of its children: the second line of `times`, such as `0m0.01s 0m0.42s`. */
function runCp(): Partial<Measured> {
  const output = execFileSync("sh", ["-c", 'cp "$0" "$1" && times', job.from, job.to], { encoding: "utf8" });
  const seconds = Array.from(
    output.split("\n")[1]!.matchAll(/(\d+)m([\d.]+)s/g),
    ([, m, s]) => 60 * Number(m) + Number(s),
  );
  return { cpuMs: 1000 * seconds.reduce((sum, each) => sum + each, 0) };
}

async function runLibrary(): Promise<void> {
  const { exportByLibrary } = await import("@downlink/recordings/testing");
  const { from, to, compression } = job;
  await exportByLibrary({ from, to, compression, ...selection() });
}

/** Exports to files, or discards the output. */
async function runExport(source: ExportSource, to: string | undefined): Promise<Partial<Measured>> {
  await using target = to === undefined ? undefined : await open(to, "w");
  let firstByteMs = 0;
  let bytes = 0;
  let writing: Promise<void> | undefined;
  for await (const piece of exportMcap([source], { compression: job.compression, ...selection() })) {
    firstByteMs ||= elapsed();
    bytes += piece.byteLength;
    await writing;
    writing = consume(piece, target);
  }
  await writing;
  return { firstByteMs, bytes };
}

/** The consumer owns the memory of a piece, and gives it back here. */
async function consume(piece: Uint8Array, target: FileHandle | undefined): Promise<void> {
  await target?.write(piece);
  if (piece.byteLength >= FREED_BYTES) (piece.buffer as ArrayBuffer).transfer(0);
}

async function runEight(): Promise<Partial<Measured>> {
  const endsMs = await Promise.all(
    Array.from({ length: 8 }, async (_, index) => {
      await runExport(fileSource, `${job.to}-${index}`);
      const endMs = elapsed();
      await rm(`${job.to}-${index}`);
      return endMs;
    }),
  );
  return { endsMs };
}

async function runSplit(): Promise<void> {
  await using split = await splitRecording(fileSource, { spillPath: join(job.to, "spill") });
  for (const { topic, open: openFile } of split.topics)
    await writeAll(join(job.to, `${topic.slice(1).replaceAll("/", "-")}.mcap`), openFile());
}

async function writeAll(path: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  await using target = await open(path, "w");
  for await (const piece of pieces) await consume(piece, target);
}

async function runHuge(): Promise<Partial<Measured>> {
  const { makeHugeMcap } = await import("@downlink/recordings/testing");
  const huge = Object.assign(makeHugeMcap(job.hugeBytes!), { [Symbol.asyncDispose]: async () => {} });
  const madeMs = elapsed();
  const found = await runExport(
    sourceOf(async () => huge),
    undefined,
  );
  return { ...found, firstByteMs: found.firstByteMs! - madeMs };
}

function makeFileSource(path: string): ExportSource {
  return { ...sourceOf(() => FileSource.open(path)), openIndex: () => FileSource.open(indexPathOf(path)) };
}

function indexPathOf(path: string): string {
  return `${path}.index`;
}

function sourceOf(open: () => Promise<RandomAccessSource & AsyncDisposable>): ExportSource {
  return { fileName: "drive.mcap", startNs: 0n, endNs: 2n ** 63n - 1n, open };
}

function selection(): ExportSelection {
  const { topics, startNs, endNs } = job;
  return { topics, startNs: toBigInt(startNs), endNs: toBigInt(endNs) };
}

function toBigInt(text: string | undefined): bigint | undefined {
  return text === undefined ? undefined : BigInt(text);
}
