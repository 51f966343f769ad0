import assert from "node:assert/strict";
import { test } from "node:test";
import { RecordingError } from "../faults/reasons.ts";
import { bytesSource, countReads, SourceChangedError } from "../sources/source.ts";
import { exportBytes, exportSource, indexedSource } from "../testing/export-bytes.ts";
import { makeMcap } from "../testing/make-mcap.ts";
import { readMessages, readRecords } from "../testing/read-messages.ts";
import { runsSlowTests } from "../testing/slow-test.ts";
import { writeMessages } from "../testing/write-messages.ts";
import type { SkippedDamage } from "./plan/export-options.ts";

/** Each chunk with its message indexes, of `bytes` at the places that the indexes of `sound` name. */
function chunksOf(bytes: Uint8Array, sound: Uint8Array = bytes): Buffer[] {
  const indexes = readRecords(sound).records.filter((record) => record.type === "ChunkIndex");
  return indexes.map(({ chunkStartOffset, chunkLength, messageIndexLength }) => {
    const end = Number(chunkStartOffset + chunkLength + messageIndexLength);
    return Buffer.from(bytes).subarray(Number(chunkStartOffset), end);
  });
}

function countSame(exported: Uint8Array, source: Uint8Array, sound: Uint8Array = source): number {
  return chunksOf(source, sound).filter((chunk) => Buffer.from(exported).includes(chunk)).length;
}

test("chunks that are wanted as they are go into the written file byte for byte", async () => {
  for (const compression of ["", "lz4", "zstd"] as const) {
    const bytes = await makeMcap({ compression, chunkBytes: 10_000 });
    const exported = await exportBytes(bytes, { compression });
    assert.equal(countSame(exported, bytes), chunksOf(bytes).length);
    assert.equal(readMessages(exported).length, readMessages(bytes).length);
  }
});

test("at the ends of a window only the chunks that it cuts are rewritten", async () => {
  const bytes = await makeMcap({ chunkBytes: 10_000 });
  const times = readMessages(bytes).map(({ logTimeNs }) => logTimeNs);
  const window = { startNs: times[40]!, endNs: times[times.length - 40]! };
  const exported = await exportBytes(bytes, window);
  const inside = readRecords(bytes).records.filter(
    (record) =>
      record.type === "ChunkIndex" &&
      record.messageStartTime >= window.startNs &&
      record.messageEndTime <= window.endNs,
  );
  assert.ok(inside.length > 5);
  assert.equal(countSame(exported, bytes), inside.length);
});

const messages = ["/a", "/b", "/a", "/b"].map((topic, index) => ({
  topic,
  logTimeNs: BigInt(index),
  data: Buffer.from([index]),
}));
const plain = { topics: ["/a", "/b"], schema: "one", compression: "", chunkBytes: 20, isIndexed: true } as const;
const later = messages.map((message) => ({ ...message, logTimeNs: message.logTimeNs + 100n }));

test("what is not wanted as it is, is rewritten: another compression, order, topic or id", async () => {
  const bytes = await writeMessages({ ...plain, messages });
  assert.equal(countSame(await exportBytes(bytes, { compression: "" }), bytes), 4);
  assert.equal(countSame(await exportBytes(bytes, { compression: "lz4" }), bytes), 0);
  assert.equal(countSame(await exportBytes(bytes, { compression: "", topics: ["/a"] }), bytes), 2);
  const unordered = await writeMessages({ ...plain, chunkBytes: 10_000, messages: messages.toReversed() });
  assert.equal(countSame(await exportBytes(unordered, { compression: "" }), unordered), 0);
  // Only the first one ends when the other recording begins.
  const exported = await exportBytes([exportSource(bytes), exportSource(unordered)], { compression: "" });
  assert.equal(countSame(exported, bytes), 1);
  const sameIds = await writeMessages({ ...plain, messages: later });
  const otherIds = await writeMessages({ ...plain, messages: later, topics: ["/b", "/a"] });
  const otherSchema = await writeMessages({ ...plain, messages: later, schema: "two" });
  for (const [second, count] of [
    [sameIds, 4],
    [otherIds, 0],
    [otherSchema, 0],
  ] as const) {
    const joined = await exportBytes([exportSource(bytes), exportSource(second)], { compression: "" });
    assert.deepEqual([countSame(joined, bytes), countSame(joined, second)], [4, count]);
    assert.equal(readMessages(joined).length, 8);
  }
});

test("the same topic with another schema keeps two channels; what is byte-identical is written once", async () => {
  const [one, same, two] = await Promise.all(
    ["one", "one", "two"].map((schema, index) =>
      writeMessages({
        ...plain,
        schema,
        messages: messages.map((each) => ({ ...each, logTimeNs: each.logTimeNs + 10n * BigInt(index) })),
      }),
    ),
  );
  const exported = await exportBytes([one!, same!, two!].map((bytes) => exportSource(bytes)));
  const { channels, schemas } = readRecords(exported);
  assert.deepEqual([channels.size, schemas.size], [4, 4]);
  assert.equal(readMessages(exported).length, 12);
});

test("without a proof in its message indexes a chunk is not passed on, and nothing is lost", async () => {
  const bytes = new Uint8Array(await writeMessages({ ...plain, messages }));
  const [chunk] = chunksOf(bytes);
  const indexAt = Buffer.from(bytes).indexOf(chunk!) + chunk!.byteLength - 16;
  const exported = await exportBytes(bytes.with(indexAt, 77), { compression: "" });
  assert.deepEqual([countSame(exported, bytes), readMessages(exported).length], [3, 4]);
});

test("a chunk whose index in the summary leaves out a channel is not passed on for the others", async () => {
  const bytes = Buffer.from(await writeMessages({ ...plain, chunkBytes: 10_000, messages }));
  const index = readRecords(bytes).records.find((record) => record.type === "ChunkIndex");
  const entry = Buffer.alloc(10);
  entry.writeUInt16LE(1);
  entry.writeBigUInt64LE(index!.messageIndexOffsets.get(1)!, 2);
  bytes.writeUInt16LE(0, bytes.indexOf(entry)); // names the other channel twice
  bytes.writeUInt32LE(0, bytes.byteLength - 12); // the summary has no checksum
  for (const topic of ["/a", "/b"]) {
    const exported = readMessages(await exportBytes(bytes, { compression: "", topics: [topic] }));
    assert.ok(exported.every((message) => message.topic === topic));
  }
});

test("what is damaged is left out of a salvage and reported, whether it would be passed on, rewritten or merged", async () => {
  for (const [compression, disorderNs] of [
    ["", 0n],
    ["zstd", 0n],
    ["", 900_000_000n],
  ] as const) {
    const bytes = new Uint8Array(await makeMcap({ compression: "", chunkBytes: 20_000, disorderNs }));
    const damaged = bytes.with(Buffer.from(bytes).lastIndexOf("battery"), 0);
    await assert.rejects(exportBytes(damaged, { compression }), (error) => error instanceof RecordingError);
    const reported: SkippedDamage[] = [];
    const source = exportSource(damaged, { isSalvage: true });
    const exported = await exportBytes([source], { compression, onSkippedDamage: (each) => reported.push(each) });
    if (compression === "" && disorderNs === 0n)
      assert.equal(countSame(exported, damaged, bytes), chunksOf(bytes).length - 1);
    const [damage] = reported;
    assert.deepEqual([reported.length, damage?.source, damage?.reason.code], [1, "a.mcap", "BadChunk"]);
    const lost = damage!.messagesLost!;
    assert.equal(readMessages(exported).length, readMessages(bytes).length - lost);
    const record = readRecords(exported).records.find((each) => each.type === "Metadata");
    assert.ok(record?.type === "Metadata");
    assert.deepEqual(
      [record.name, record.metadata.get("skippedChunks"), record.metadata.get("messagesLost")],
      ["downlink.export", "1", `${lost}`],
    );
    const { source: name, offset, code } = JSON.parse(record.metadata.get("skipped.1")!);
    assert.deepEqual([name, offset, code], ["a.mcap", damage!.offset, "BadChunk"]);
  }
});

test("only damage of what was asked for is reported: another topic's chunk, or one outside of the window, is not", async () => {
  const bytes = new Uint8Array(await writeMessages({ ...plain, messages }));
  const damaged = bytes.with(Buffer.from(bytes).indexOf(chunksOf(bytes)[0]!) + 60, 0xff);
  const source = exportSource(damaged, { isSalvage: true });
  for (const [selection, count] of [
    [{ topics: ["/a"] }, 1],
    [{ topics: ["/b"] }, 0],
    [{ startNs: 1n }, 0],
    [{ endNs: 0n }, 1],
  ] as const) {
    const reported: SkippedDamage[] = [];
    await exportBytes([source], { ...selection, onSkippedDamage: (each) => reported.push(each) });
    assert.equal(reported.length, count, Object.keys(selection).join());
  }
});

test("a recording that is not what it was when it was verified ends the export, however it would be given", async () => {
  const sound = new Uint8Array(await makeMcap({ compression: "", chunkBytes: 20_000 }));
  const changed = sound.with(Buffer.from(sound).lastIndexOf("battery"), 0);
  const { openIndex } = await indexedSource(sound);
  for (const options of [{ compression: "" }, { compression: "lz4" }, { topics: ["/log"] }] as const) {
    await assert.rejects(exportBytes([exportSource(changed, { openIndex })], options), SourceChangedError);
  }
  const longer = Buffer.concat([sound, Buffer.of(0)]);
  await assert.rejects(exportBytes([exportSource(longer, { openIndex })]), SourceChangedError);
  await assert.rejects(exportBytes([exportSource(sound, { openIndex, sha256: "of another" })]), SourceChangedError);
});

test("whichever byte changes behind the index's back, the same is exported or the export ends", async (t) => {
  const made = {
    topics: [
      { topic: "/log", kind: "log", rateHz: 10 },
      { topic: "/gps", kind: "gps", rateHz: 5 },
    ],
    durationSeconds: 1,
    chunkBytes: 1500,
    attachments: [{ name: "map", data: Buffer.alloc(100, 5) }],
    metadata: [{ name: "trip", metadata: { weather: "fog" } }],
  } as const;
  for (const more of [{ compression: "zstd" }, { compression: "" }, { isChunked: false }] as const) {
    const sound = new Uint8Array(await makeMcap({ ...made, ...more }));
    const { openIndex } = await indexedSource(sound);
    const given = (bytes: Uint8Array) =>
      exportBytes([exportSource(bytes, { openIndex })], { includeAttachments: true, readsWholeChunks: true });
    const expected = await given(sound);
    let ended = 0;
    const step = runsSlowTests() ? 41 : 4 * 41;
    for (let at = 0; at < sound.byteLength; at += step) {
      const exported = await given(sound.with(at, sound[at]! ^ 4)).catch((error: unknown) => error);
      if (exported instanceof SourceChangedError) ended += 1;
      else assert.ok(Buffer.from(exported as Uint8Array).equals(expected), `byte ${at} of ${JSON.stringify(more)}`);
    }
    t.diagnostic(`${JSON.stringify(more)}: ${ended} of ${Math.ceil(sound.byteLength / step)} end`);
  }
});

test("an export of an indexed file reads its chunks once, and little else", async () => {
  const bytes = await makeMcap({ chunkBytes: 10_000, durationSeconds: 4 });
  const source = countReads(bytesSource(bytes));
  const indexed = await indexedSource(bytes);
  await exportBytes([exportSource(source, { openIndex: indexed.openIndex })]);
  assert.ok(source.bytesRead < bytes.byteLength + 50_000, `${source.bytesRead} of ${bytes.byteLength}`);
});
