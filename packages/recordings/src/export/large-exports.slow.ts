import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { FileSource } from "../sources/file-source.ts";
import { makeIndex } from "../testing/export-bytes.ts";
import type { ExportsJob, MeasuredExports } from "../testing/large/measure-exports.ts";
import { sumWrittenBag } from "../testing/large/sum-written-bag.ts";
import { sumWrittenFile } from "../testing/large/sum-written-file.ts";
import { writeLargeBag } from "../testing/large/write-large-bag.ts";
import { type LargeFileSpec, type LargeFileSums, writeLargeFile } from "../testing/large/write-large-file.ts";
import { megabyteMs } from "../testing/megabyte-ms.ts";
import { writeMessages } from "../testing/write-messages.ts";

/*
 * Eight exports at once of files with a chunk of 250 MB, each measured in a process of its own. One of the eight takes some pieces and
 * then none before the others are done.
 */
const run = promisify(execFile);
const directory = await mkdtemp(join(tmpdir(), "large-exports-"));
after(() => rm(directory, { recursive: true }));
const target = join(directory, "written");

const START_NS = 1_767_323_045_000_000_000n;
const many = { messageBytes: 200, chunkBytes: 250_000_000, startNs: START_NS };
const few = { messageBytes: 60_000_000, chunkBytes: 250_000_000, startNs: START_NS };
const one = { messageBytes: 240_000_000, chunkBytes: 250_000_000, startNs: START_NS };

const kinds: Record<string, LargeFileSpec> = {
  "many messages, zstd": { ...many, compression: "zstd" },
  "many messages, lz4": { ...many, compression: "lz4" },
  "many messages, uncompressed": { ...many, compression: "" },
  // Messages of 200 bytes take no more memory, but twice as long to be put in order.
  "many messages in no order, zstd": { ...many, messageBytes: 400, compression: "zstd", isShuffled: true },
  "few messages, zstd": { ...few, compression: "zstd" },
  "few messages, lz4": { ...few, compression: "lz4" },
  "few messages, uncompressed noise": { ...few, compression: "", isNoise: true },
  "one message, zstd": { ...one, compression: "zstd" },
  "one message, lz4 noise": { ...one, compression: "lz4", isNoise: true },
};

/** The most megabytes by which the whole process may grow. */
const MOST_GROWN_MB = 600;
/** The same if the recordings are indexed in memory first, which ingest does elsewhere. */
const MOST_UNINDEXED_MB = 700;
/** The most processor time of the main thread in one round of its event loop, in encodings of a megabyte of JSON: three times what was seen. */
const MOST_TURN = 24;
/**
 * Work beside this one makes each turn longer, at times by half, and how much of its garbage a process has collected at its peak is chance.
 * The program's own computing without a pause, and its memory, are the same in each run.
 */
const RUNS = 3;

/** The reason why the longest of these are skipped in a build. */
const inCi = process.env.CI ? "NOT TESTED in CI, because it takes minutes" : false;

for (const [name, spec] of Object.entries(kinds)) {
  const { compression } = spec;
  const other = compression === "lz4" ? "zstd" : "lz4";
  test(`${name}: whole, and with another compression and no index`, { skip: spec.isShuffled && inCi }, async (t) => {
    const [path, sums] = await write(name, spec);
    const say = (text: string): void => t.diagnostic(text);
    await hold({ files: [path], compression }, sums.all, say);
    if (spec.isShuffled) return; // it takes minutes
    if (inCi) return say(`another compression, without an index: ${inCi}`);
    await hold({ files: [path], compression: other, isIndexed: false, hasDescriptor: false }, sums.all, say);
  });
}

test("a topic, and a window", async (t) => {
  const [path, { b, half, halfEndNs }] = await write("parts", kinds["many messages, zstd"]!);
  await hold({ files: [path], compression: "zstd", topics: ["/b"] }, b, (text) => t.diagnostic(text));
  await hold({ files: [path], compression: "lz4", endNs: String(halfEndNs) }, half, (text) => t.diagnostic(text));
});

test("recordings of the same time are merged", async (t) => {
  const names = ["one message, zstd", "many messages, zstd"];
  const written = await Promise.all(names.map((name, index) => write(`${index} ${name}`, kinds[name]!)));
  const files = written.map(([path]) => path);
  const count = written.reduce((sum, [, { all }]) => sum + all.count, 0);
  const sum = written.reduce((total, [, { all }]) => (total + all.sum) % 2 ** 48, 0);
  await hold({ files, compression: "zstd" }, { count, sum }, (text) => t.diagnostic(text));
});

test("65,535 channels, each with a schema of its own, hold up nothing else", async (t) => {
  const path = join(directory, "channels.mcap");
  const topics = Array.from({ length: 65_535 }, (_, index) => `/robot/sensor/${index}/value`);
  const messages = topics.map((topic, index) => ({
    topic,
    logTimeNs: START_NS + BigInt(index),
    data: Buffer.alloc(40),
  }));
  const file = { messages, topics, schema: "{}", compression: "zstd", chunkBytes: 1_000_000, isIndexed: true } as const;
  await writeFile(path, await writeMessages(file));
  await using source = await FileSource.open(path);
  await writeFile(`${path}.index`, await makeIndex(source));
  for (const compression of ["zstd", "lz4"] as const)
    await measureExports({ files: [path], count: 2, compression }, (text) => t.diagnostic(text));
  assert.equal((await sumWrittenFile(target)).count, messages.length);
});

for (const [name, messageBytes] of [
  ["many messages", 800], // of 200 bytes they take less memory, and longer
  ["few messages", few.messageBytes],
] as const)
  test(`a bag of ${name}: as a bag, and as an MCAP file`, { skip: name === "many messages" && inCi }, async (t) => {
    const path = join(directory, `${name.replaceAll(" ", "-")}.bag`);
    const { count, sum } = await writeLargeBag(path, { compression: "lz4", messageBytes, chunkBytes: 250_000_000 });
    const job: Pick<ExportsJob, "files" | "compression"> = { files: [path], compression: "lz4" };
    await measureExports({ ...job, format: "bag1" }, (text) => t.diagnostic(text));
    const written = await sumWrittenBag(target);
    assert.deepEqual([written.count, written.sum], [count, sum]);
    await measureExports(job, (text) => t.diagnostic(text));
    assert.equal((await sumWrittenFile(target)).count, count);
  });

async function write(name: string, spec: LargeFileSpec): Promise<[string, LargeFileSums]> {
  const path = join(directory, `${name.replaceAll(/\W+/g, "-")}.mcap`);
  return [path, await writeLargeFile(path, spec)];
}

async function hold(
  job: Pick<ExportsJob, "files" | "compression"> & Partial<ExportsJob>,
  { count, sum }: { count: number; sum: number },
  say: (text: string) => void,
): Promise<void> {
  await measureExports(job, say);
  const written = await sumWrittenFile(target);
  assert.deepEqual([written.count, written.sum], [count, sum]);
}

async function measureExports(
  job: Pick<ExportsJob, "files" | "compression"> & Partial<ExportsJob>,
  say: (text: string) => void,
): Promise<void> {
  const whole: ExportsJob = { count: 8, format: "mcap", isIndexed: true, hasDescriptor: true, to: target, ...job };
  const program = new URL("../testing/large/measure-exports.ts", import.meta.url);
  const mostMb = whole.isIndexed ? MOST_GROWN_MB : MOST_UNINDEXED_MB;
  const runs: string[] = [];
  while (runs.length < RUNS) {
    const { stdout } = await run(process.execPath, [program.pathname, JSON.stringify(whole)]);
    const measured: MeasuredExports = JSON.parse(stdout);
    const grownMb = Math.round(measured.grownBytes / 1e6);
    const turn = measured.longestTurnMs / megabyteMs();
    runs.push(`${grownMb} MB, turns of ${turn.toFixed(1)}, delay ${Math.round(measured.longestDelayMs)} ms`);
    say(`${runs.at(-1)}: ${JSON.stringify(job)}`);
    assert.equal(new Set(measured.sizesBytes).size, 1, "the exports differ");
    if (grownMb <= mostMb && turn <= MOST_TURN) return;
  }
  assert.fail(
    `none of ${RUNS} runs stays within ${mostMb} MB and turns of ${MOST_TURN} MB of JSON: ${runs.join("; ")}`,
  );
}
