import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";
import { indexRecording } from "../inspect/index-recording.ts";
import { bytesSource, countReads } from "../sources/source.ts";
import { exportBytes, exportSource, indexedSource, makeIndex } from "../testing/export-bytes.ts";
import { makeBag } from "../testing/make-bag.ts";
import { makeMcap } from "../testing/make-mcap.ts";
import { propertyRuns } from "../testing/property-runs.ts";
import { readMessages } from "../testing/read-messages.ts";
import { firstCases, slowTest } from "../testing/slow-test.ts";
import { writeMessages } from "../testing/write-messages.ts";
import { IndexUnreadableError, openVerifiedIndex } from "./read-index.ts";

async function pagesOf(index: Uint8Array) {
  const opened = await openVerifiedIndex(bytesSource(index));
  return Array.fromAsync(opened.pages({}), ({ page }) => page);
}

test("an index holds what the file holds: counts, true times, checksum and hash", async () => {
  for (const [fileName, bytes] of [
    ["a.mcap", await makeMcap({ chunkBytes: 20_000 })],
    ["a.mcap", await makeMcap({ isChunked: false })],
    ["a.bag", await makeBag()],
  ] as const) {
    const index = await makeIndex(bytesSource(bytes), { fileName });
    const { head, channels } = await openVerifiedIndex(bytesSource(index));
    assert.equal(head.sizeBytes, bytes.byteLength);
    assert.equal(head.sha256, createHash("sha256").update(bytes).digest("hex"));
    const counted = (await channels()).reduce((sum, { tally }) => sum + tally.messageCount, 0);
    assert.equal(counted, head.messageCount);
    let inPages = 0;
    for (const { channels: rows } of await pagesOf(index)) for (const count of rows.messageCounts) inPages += count;
    assert.equal(inPages, head.messageCount);
  }
});

test("an index is at most 1 % of a file with chunks of 256 KiB and ten channels in each", async () => {
  const topics = Array.from({ length: 10 }, (_, index) => {
    return { topic: `/sensor/${index}`, kind: "blob" as const, rateHz: 20 + index, sizeBytes: 1500 + 97 * index };
  });
  const bytes = await makeMcap({ topics, durationSeconds: 10, chunkBytes: 256 * 1024, compression: "" });
  const index = await makeIndex(bytesSource(bytes));
  const share = index.byteLength / bytes.byteLength;
  assert.ok(share <= 0.01, `${(100 * share).toFixed(2)} % of ${bytes.byteLength} bytes`);
});

slowTest(
  "an index is at most 100 bytes for each pair of chunk and channel, however small the chunks are",
  async (t) => {
    const kinds = [1, 3, 40].map((channelCount) => {
      const topics = Array.from({ length: channelCount }, (_, index) => `/t/${index}`);
      // Times, sizes and so checksums are random.
      const messages = Array.from({ length: 30_000 }, (_, index) => ({
        topic: topics[(index * 7) % channelCount]!,
        logTimeNs: BigInt(index) * 1_000_003n + BigInt((index * index) % 99_991),
        data: createHash("sha256")
          .update(`${index}`)
          .digest()
          .subarray(0, index % 32),
      }));
      return { topics, messages };
    });
    for (const { topics, messages } of kinds) {
      const bytes = await writeMessages({
        topics,
        messages,
        schema: "one",
        compression: "",
        chunkBytes: 300,
        isIndexed: true,
      });
      const index = await makeIndex(bytesSource(bytes));
      const pairs = (await pagesOf(index)).reduce((sum, page) => sum + page.channels.channels.length, 0);
      const most = 100 * pairs + 64 * 1024; // 64 KiB for what stands beside the pages: channels, schemas, head
      t.diagnostic(`${topics.length} channels: ${(index.byteLength / pairs).toFixed(1)} bytes a pair`);
      assert.ok(index.byteLength <= most, `${index.byteLength} bytes for ${pairs} pairs`);
    }
  },
);

slowTest("a window of a large file needs a part of its index", async () => {
  const messages = Array.from({ length: 60_000 }, (_, index) => {
    return { topic: "/a", logTimeNs: BigInt(index) * 1000n + BigInt((index * index) % 997), data: new Uint8Array(8) };
  });
  const file = { messages, topics: ["/a"], schema: "one", compression: "", chunkBytes: 60, isIndexed: true } as const;
  const bytes = await writeMessages(file);
  const index = countReads(bytesSource(await makeIndex(bytesSource(bytes))));
  const openIndex = async () => Object.assign(index, { [Symbol.asyncDispose]: async () => {} });
  const window = { startNs: 30_000_000n, endNs: 30_100_000n };
  const exported = readMessages(await exportBytes([exportSource(bytes, { openIndex })], window));
  const wanted = readMessages(bytes).filter(({ logTimeNs: ns }) => ns >= window.startNs && ns <= window.endNs);
  assert.deepEqual(exported.map(({ logTimeNs }) => logTimeNs).sort(), wanted.map(({ logTimeNs }) => logTimeNs).sort());
  assert.ok(index.bytesRead < index.sizeBytes / 2, `${index.bytesRead} of ${index.sizeBytes}`);
});

test("schemas are pointed to where they stand outside of compressed chunks, and copied where they do not", async () => {
  const features = { repeatSchemas: false, repeatChannels: false };
  for (const [spec, isCopied] of [
    [{ compression: "zstd" }, false],
    [{ compression: "", features }, false],
    [{ compression: "zstd", features }, true],
  ] as const) {
    const bytes = await makeMcap(spec);
    const { schemas } = await openVerifiedIndex(bytesSource(await makeIndex(bytesSource(bytes))));
    const found = await schemas(bytesSource(bytes), undefined);
    const known = new Set(readMessages(bytes).map(({ schema }) => Buffer.from(schema).toString()));
    assert.deepEqual(new Set(Array.from(found.values(), ({ data }) => Buffer.from(data).toString())), known);
    // Without the recording only what was copied is there.
    const copied = schemas(bytesSource(new Uint8Array(0)), undefined);
    if (isCopied) assert.equal((await copied).size, found.size);
    else await assert.rejects(copied);
  }
});

test("what is no index, or damaged, or of another version, is made again", async () => {
  const bytes = await makeMcap();
  const index = Buffer.from(await makeIndex(bytesSource(bytes)));
  const broken = [
    Buffer.alloc(0),
    index.subarray(0, index.byteLength - 1),
    Buffer.concat([index.subarray(0, -60), Buffer.alloc(30), index.subarray(-30)]),
    Buffer.from(index).fill(0, index.byteLength - 20, index.byteLength - 10),
  ];
  for (const each of broken) {
    await assert.rejects(openVerifiedIndex(bytesSource(each)), IndexUnreadableError);
    const openIndex = async () => ({ ...bytesSource(each), [Symbol.asyncDispose]: async () => {} });
    const exported = await exportBytes([exportSource(bytes, { openIndex })]);
    assert.equal(readMessages(exported).length, readMessages(bytes).length);
  }
});

test("whichever byte of an index is damaged, the same is exported", async () => {
  const metadata = [{ name: "trip", metadata: { weather: "fog" } }];
  const bytes = await makeMcap({
    chunkBytes: 20_000,
    durationSeconds: 1,
    metadata,
    attachments: [{ name: "a", data: Buffer.alloc(9) }],
  });
  const index = await makeIndex(bytesSource(bytes));
  const given = (from: Uint8Array) => {
    const openIndex = async () => ({ ...bytesSource(from), [Symbol.asyncDispose]: async () => {} });
    return exportBytes([exportSource(bytes, { openIndex })], { includeAttachments: true, startNs: 1n });
  };
  const expected = await given(index);
  const step = Math.floor(index.byteLength / propertyRuns(index.byteLength / 37));
  for (let at = 8; at < index.byteLength; at += step) {
    const exported = await given(new Uint8Array(index).with(at, index[at]! ^ 16));
    assert.ok(Buffer.from(exported).equals(Buffer.from(expected)), `byte ${at} of ${index.byteLength}`);
  }
});

test("a file is read once and in order, and little more", async () => {
  const attachments = [{ name: "map", data: Buffer.alloc(3_000_000, 7) }];
  const bytes = await makeMcap({ durationSeconds: 20, compression: "", attachments });
  const offsets: number[] = [];
  const source = countReads(bytesSource(bytes));
  const watched = {
    sizeBytes: source.sizeBytes,
    read: (offset: number, length: number) => {
      offsets.push(offset);
      return source.read(offset, length);
    },
  };
  await indexRecording(watched, { fileName: "a.mcap", write: async () => {} });
  assert.ok(source.bytesRead < bytes.byteLength * 1.02 + 100_000, `${source.bytesRead} of ${bytes.byteLength}`);
  // The magic, the footer and, for its checksum, the summary are read besides.
  assert.ok(offsets.length <= bytes.byteLength / 2 ** 21 + 5, `${offsets.length} reads`);
});

for (const compression of firstCases(2, ["", "zstd", "lz4"] as const)) {
  test(`a chunk in pieces, whose blocks are larger than what is held of a file, is read whole, "${compression}"`, async () => {
    const messages = Array.from({ length: 18 }, (_, index) => {
      return { topic: "/a", logTimeNs: BigInt(index), data: new Uint8Array(randomBytes(1_000_000)) };
    });
    const file = { topics: ["/a"], schema: "one", compression, isIndexed: true } as const;
    const large = await writeMessages({ ...file, messages, chunkBytes: 50_000_000 });
    const { state } = await indexRecording(bytesSource(large), { fileName: "a.mcap", write: async () => {} });
    assert.equal(state, "finished");
  });
}

test("chunks that are passed on are at most 4 MiB large, or one message", async () => {
  const messages = Array.from({ length: 100 }, (_, index) => {
    return { topic: "/a", logTimeNs: BigInt(index), data: new Uint8Array(100_000).fill(index) };
  });
  const file = { topics: ["/a"], schema: "one", compression: "zstd", isIndexed: true } as const;
  const large = await writeMessages({ ...file, messages, chunkBytes: 50_000_000 });
  const exported = await exportBytes([await indexedSource(large)], { compression: "zstd" });
  const sizes = (await pagesOf(await makeIndex(bytesSource(exported)))).flatMap(({ runs }) => [...runs.lengths]);
  assert.equal(readMessages(exported).length, 100);
  assert.ok(Math.max(...sizes) <= 4 * 1024 * 1024, `${Math.max(...sizes)}`);
  const one = [{ topic: "/a", logTimeNs: 1n, data: new Uint8Array(6_000_000) }];
  const single = await writeMessages({ ...file, messages: one, chunkBytes: 50_000_000 });
  const passed = await exportBytes([await indexedSource(single)], { compression: "zstd" });
  assert.equal(readMessages(passed)[0]!.data.byteLength, 6_000_000);
});
