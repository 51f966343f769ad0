import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesSource, type RandomAccessSource, SourceChangedError } from "../sources/source.ts";
import { exportBytes, exportSource, indexedSource } from "../testing/export-bytes.ts";
import { readMessages } from "../testing/read-messages.ts";
import { refusedWith } from "../testing/refused-with.ts";
import { slowTest } from "../testing/slow-test.ts";
import { type WrittenFile, writeMessages } from "../testing/write-messages.ts";
import { exportMcap } from "./export-mcap.ts";
import type { ExportSource } from "./plan/export-options.ts";

const plain = { topics: ["/a"], schema: "one", compression: "", chunkBytes: 500, isIndexed: true } as const;

function fileOf(times: readonly bigint[], more: Partial<WrittenFile> = {}): Promise<Uint8Array> {
  const topic = more.topics?.[0] ?? "/a";
  const messages = times.map((logTimeNs) => ({ topic, logTimeNs, data: Buffer.alloc(20, Number(logTimeNs) % 256) }));
  return writeMessages({ ...plain, messages, ...more });
}

function timesOf(bytes: Uint8Array): bigint[] {
  return readMessages(bytes).map(({ logTimeNs }) => logTimeNs);
}

slowTest("many recordings are opened when the stream comes near them, and closed when it has passed", async () => {
  const bytes = await Promise.all(
    Array.from({ length: 500 }, (_, index) => fileOf([BigInt(10 * index), BigInt(10 * index + 5)])),
  );
  const sources = bytes.map((file, index) =>
    exportSource(file, { startNs: BigInt(10 * index), endNs: BigInt(10 * index + 5) }),
  );
  let mostOpen = 0;
  const pieces: Uint8Array[] = [];
  for await (const piece of exportMcap(sources, { compression: "" })) {
    pieces.push(piece);
    mostOpen = Math.max(mostOpen, sources.filter(({ isOpen }) => isOpen).length);
  }
  assert.ok(mostOpen < 30, `${mostOpen}`);
  assert.ok(sources.every(({ openings, isOpen }) => openings === 1 && !isOpen));
  assert.equal(timesOf(Buffer.concat(pieces)).length, 1000);
});

test("recordings outside of the window are not opened", async () => {
  const bytes = await fileOf([10n, 20n]);
  const sources = [0n, 100n, 200n].map((at) => exportSource(bytes, { startNs: at + 10n, endNs: at + 20n }));
  assert.deepEqual(timesOf(await exportBytes(sources, { startNs: 20n, endNs: 109n })), [20n]);
  assert.deepEqual(
    sources.map(({ openings }) => openings),
    [1, 0, 0],
  );
});

test("an early end and a failure close every source", async () => {
  const bytes = await fileOf(Array.from({ length: 500 }, (_, index) => BigInt(index)));
  const sources = [exportSource(bytes), exportSource(bytes)];
  for await (const _ of exportMcap(sources, { compression: "zstd" })) break;
  assert.ok(sources.every(({ isOpen }) => !isOpen));
  const failing: RandomAccessSource = {
    sizeBytes: bytes.byteLength,
    async read(offset, length) {
      if (offset > 8 && offset < bytes.byteLength / 2) throw new SourceChangedError("gone");
      return bytesSource(bytes).read(offset, length);
    },
  };
  for (const compression of ["", "zstd"] as const) {
    const broken = exportSource(failing);
    await assert.rejects(exportBytes([broken], { compression }), SourceChangedError);
    assert.ok(!broken.isOpen);
  }
});

test("the last messages before the window come from all earlier recordings that may hold some, and from no others", async () => {
  const files = await Promise.all([
    fileOf([1n, 2n], { topics: ["/b"] }),
    fileOf([11n, 12n], { topics: ["/b"] }),
    fileOf([21n, 22n], { topics: ["/a", "/b"] }),
    fileOf([31n, 32n], { topics: ["/a", "/b"] }),
  ]);
  // Only topics with messages count: the later recordings have a "/b" without any.
  const [onlyA, onlyB] = [new Map([["/a", "one"]]), new Map([["/b", "one"]])];
  const span = (index: number) => ({ startNs: BigInt(10 * index + 1), endNs: BigInt(10 * index + 2) });
  const sources = files.map((bytes, index) =>
    exportSource(bytes, { ...span(index), topicKeys: index < 2 ? onlyB : onlyA }),
  );
  const found = readMessages(await exportBytes(sources, { startNs: 32n, lastPerChannel: {} }));
  assert.deepEqual(
    found.map(({ topic, logTimeNs }) => [topic, logTimeNs]),
    [
      ["/b", 12n],
      ["/a", 31n],
      ["/a", 32n],
    ],
  );
  assert.deepEqual(
    sources.map(({ openings }) => openings),
    [0, 1, 0, 2],
  );
  const untimed = files.map((bytes, index) => exportSource(bytes, span(index)));
  assert.deepEqual(timesOf(await exportBytes(untimed, { startNs: 32n, lastPerChannel: {} })), [12n, 31n, 32n]);
  assert.deepEqual(
    untimed.map(({ openings }) => openings),
    [1, 1, 1, 2],
  );
  assert.deepEqual(timesOf(await exportBytes(sources, { startNs: 32n, lastPerChannel: { lookbackNs: 1n } })), [
    31n,
    32n,
  ]);
  assert.deepEqual(timesOf(await exportBytes(sources, { startNs: 32n, lastPerChannel: { lookbackNs: 0n } })), [32n]);
  assert.deepEqual(timesOf(await exportBytes(sources, { startNs: 100n, lastPerChannel: {} })), [12n, 32n]);
});

test("times at both ends of what can be stored are exported", async () => {
  const maxNs = 2n ** 63n - 1n;
  for (const compression of ["", "zstd"] as const) {
    const bytes = await fileOf([0n, 1n, maxNs - 1n, maxNs], { chunkBytes: 60 });
    assert.deepEqual(timesOf(await exportBytes(bytes, { compression })), [0n, 1n, maxNs - 1n, maxNs]);
    assert.deepEqual(timesOf(await exportBytes(bytes, { compression, startNs: maxNs, endNs: maxNs })), [maxNs]);
    assert.deepEqual(timesOf(await exportBytes(bytes, { compression, startNs: -5n, endNs: 0n })), [0n]);
  }
});

test("what cannot be put in order in bounded memory is refused", async () => {
  const spread = Array.from({ length: 300 }, (_, index) => BigInt(index % 2 === 0 ? index : 1000 - index));
  const bytes = await fileOf(spread, { chunkBytes: 200 });
  await assert.rejects(exportBytes(bytes, { memoryBudgetBytes: 100 }), refusedWith("TooMuchOverlap"));
  assert.equal(timesOf(await exportBytes(bytes, { memoryBudgetBytes: 2_000 })).length, 300);
  const one = await fileOf([1n, 2n]);
  const { openIndex } = await indexedSource(one);
  const many: ExportSource[] = Array.from({ length: 257 }, () => exportSource(one, { openIndex }));
  await assert.rejects(exportBytes(many), refusedWith("TooMuchOverlap"));
  const early = exportSource(one, { startNs: 50n });
  await assert.rejects(
    exportBytes([exportSource(await fileOf([10n, 60n], { chunkBytes: 20 })), early]),
    refusedWith("SpanExceeded"),
  );
});
