import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import { inspectRecording } from "../inspect/inspect.ts";
import { FileSource } from "../sources/file-source.ts";
import { bytesSource } from "../sources/source.ts";
import { exportBytes, exportSource, indexedSource } from "../testing/export-bytes.ts";
import { propertyRuns } from "../testing/property-runs.ts";
import { type ReadMessage, readIndexedMessages, readMessages } from "../testing/read-messages.ts";
import { type WrittenFile, writeMessages } from "../testing/write-messages.ts";
import type { ExportOptions, ExportSelection } from "./plan/export-options.ts";

const topics = ["/a", "/b", "/c"];
const compression = fc.constantFrom("" as const, "lz4" as const, "zstd" as const);

/** There are few times, so that many are equal. Sources begin at different times. */
const file: fc.Arbitrary<WrittenFile> = fc
  .record({
    start: fc.integer({ min: 0, max: 80 }),
    steps: fc.array(
      fc.record({
        topic: fc.constantFrom(...topics),
        step: fc.integer({ min: -1, max: 3 }),
        size: fc.nat({ max: 60 }),
      }),
      { maxLength: 40 },
    ),
    isOrdered: fc.boolean(),
    topics: fc.shuffledSubarray(topics, { minLength: topics.length }),
    schema: fc.constantFrom("one", "one", "two"),
    compression,
    chunkBytes: fc.integer({ min: 60, max: 1500 }),
    isIndexed: fc.boolean(),
  })
  .map(({ start, steps, isOrdered, ...rest }) => {
    let time = start;
    const messages = steps.map(({ topic, step, size }, index) => {
      time += isOrdered ? Math.max(step, 0) : step * 4;
      return { topic, logTimeNs: BigInt(Math.max(time, 0)), data: Buffer.alloc(size, index) };
    });
    return { ...rest, messages };
  });

const time = fc.option(fc.bigInt({ min: 0n, max: 120n }), { nil: undefined });
const selection: fc.Arbitrary<ExportSelection> = fc.record({
  topics: fc.subarray([...topics, "/none"]),
  startNs: time,
  endNs: time,
});
const manner: fc.Arbitrary<Partial<ExportOptions>> = fc.record({
  compression,
  readsWholeChunks: fc.boolean(),
  memoryBudgetBytes: fc.constantFrom(2_000, 20_000, 64_000_000),
});

/** Whether a source's bytes lie in a file, and whether it was indexed before. */
const way = fc.record({ isFile: fc.boolean(), isIndexed: fc.boolean() });
const folder = mkdtempSync(join(tmpdir(), "downlink-exact-"));
after(() => rmSync(folder, { recursive: true }));
let fileCount = 0;

async function toSource(bytes: Uint8Array, { isFile, isIndexed }: { isFile: boolean; isIndexed: boolean }) {
  const { openIndex } = isIndexed ? await indexedSource(bytes) : {};
  if (!isFile) return exportSource(bytes, { openIndex });
  fileCount += 1;
  const path = join(folder, `${fileCount}.mcap`);
  writeFileSync(path, bytes);
  return exportSource(bytes, { openIndex, open: () => FileSource.open(path) });
}

interface Content {
  readonly topic: string;
  readonly schema: string;
  readonly sequence: number;
  readonly logTimeNs: bigint;
  readonly data: string;
}

function contentOf({ topic, schema, sequence, logTimeNs, data }: ReadMessage): Content {
  return {
    topic,
    schema: Buffer.from(schema).toString(),
    sequence,
    logTimeNs,
    data: Buffer.from(data).toString("hex"),
  };
}

/** All messages in the one right order: by time, equal times by source and place in the file. */
function inOrder(sources: readonly Uint8Array[]): Content[] {
  const all = sources.flatMap((bytes) => readMessages(bytes).map(contentOf));
  return all.toSorted((a, b) => Number(a.logTimeNs - b.logTimeNs));
}

function select(contents: readonly Content[], { topics: wanted = [], startNs, endNs }: ExportSelection): Content[] {
  return contents.filter(
    ({ topic, logTimeNs }) =>
      (wanted.length === 0 || wanted.includes(topic)) &&
      (startNs === undefined || logTimeNs >= startNs) &&
      (endNs === undefined || logTimeNs <= endNs),
  );
}

/** The last message of each channel. */
function lastOfEach(contents: readonly Content[]): Content[] {
  const last = new Map<string, Content>();
  for (const content of contents) last.set(`${content.topic} ${content.schema}`, content);
  return contents.filter((content) => last.get(`${content.topic} ${content.schema}`) === content);
}

async function assertHolds(exported: Uint8Array, expected: readonly Content[]): Promise<void> {
  assert.deepEqual(readMessages(exported).map(contentOf), expected);
  const byAll = (a: Content, b: Content) => (keyOf(a) < keyOf(b) ? -1 : 1);
  const indexed = (await readIndexedMessages(exported)).map(contentOf);
  assert.deepEqual(indexed.toSorted(byAll), expected.toSorted(byAll));
  assert.deepEqual(
    indexed.map(({ logTimeNs }) => logTimeNs),
    expected.map(({ logTimeNs }) => logTimeNs),
  );
  const inspection = await inspectRecording(bytesSource(exported), { fileName: "x.mcap", verifyChunks: true });
  assert.equal(inspection.state, expected.length === 0 ? "empty" : "finished");
}

function keyOf({ topic, logTimeNs, sequence, data }: Content): string {
  return `${logTimeNs} ${topic} ${sequence} ${data}`;
}

test("any selection of any recordings, in any manner, is what a slow obvious extraction finds", async () => {
  const exported = fc.record({ files: fc.array(file, { maxLength: 4 }), selection, manner, way });
  await fc.assert(
    fc.asyncProperty(exported, async ({ files, selection: selected, manner: options, way: by }) => {
      const sources = await Promise.all(files.map(writeMessages));
      const opened = await Promise.all(sources.map((bytes) => toSource(bytes, by)));
      const bytes = await exportBytes(opened, { ...selected, ...options });
      await assertHolds(bytes, select(inOrder(sources), selected));
    }),
    { numRuns: propertyRuns(400) },
  );
});

test("with the last message of each channel before the window, too", async () => {
  const lookbackNs = fc.option(fc.bigInt({ min: 0n, max: 60n }), { nil: undefined });
  const start = fc.bigInt({ min: 0n, max: 120n });
  await fc.assert(
    fc.asyncProperty(
      fc.record({ files: fc.array(file, { maxLength: 4 }), startNs: start, lookbackNs, selection, manner }),
      async ({ files, startNs, lookbackNs: lookback, selection: chosen, manner: options }) => {
        const sources = await Promise.all(files.map((each) => writeMessages(each)));
        const selected = { ...chosen, startNs };
        const exported = await exportBytes(
          sources.map((bytes) => exportSource(bytes)),
          {
            ...selected,
            ...options,
            lastPerChannel: { lookbackNs: lookback },
          },
        );
        const all = inOrder(sources);
        const earliestNs = lookback === undefined ? undefined : startNs - lookback;
        const before = select(all, { ...selected, startNs: earliestNs, endNs: startNs - 1n });
        await assertHolds(exported, [...lastOfEach(before), ...select(all, selected)]);
      },
    ),
    { numRuns: propertyRuns(200) },
  );
});
