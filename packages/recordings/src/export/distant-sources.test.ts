import assert from "node:assert/strict";
import { test } from "node:test";
import { createLargeMemory } from "../memory/large-memory.ts";
import { fetchAhead } from "../sources/fetch-ahead.ts";
import { bytesSource } from "../sources/source.ts";
import { exportBytes, exportSource, makeIndex } from "../testing/export-bytes.ts";
import { makeMcap } from "../testing/make-mcap.ts";
import { demoTopics } from "../testing/sensors.ts";
import { firstCases } from "../testing/slow-test.ts";
import { writeMessages } from "../testing/write-messages.ts";
import type { ExportSource } from "./plan/export-options.ts";

const MIB = 1024 * 1024;
const START_NS = 1_767_323_045_000_000_000n;

/** A recording whose bytes come by requests, which are noted. */
function makeDistant(bytes: Uint8Array, index: Uint8Array | undefined) {
  const requests: { of: "recording" | "index"; bytes: number }[] = [];
  const memory = createLargeMemory(128 * MIB);
  const open = (of: "recording" | "index", content: Uint8Array) => async () => {
    async function* stream({ start, endInclusive }: { start: number; endInclusive: number }) {
      requests.push({ of, bytes: endInclusive + 1 - start });
      yield content.slice(start, endInclusive + 1);
    }
    const { sizeBytes, read } = bytesSource(content);
    const distant = {
      sizeBytes,
      stream,
      read(offset: number, length: number) {
        requests.push({ of, bytes: length });
        return read(offset, length);
      },
    };
    const source = fetchAhead(distant, { memory });
    return { ...source, [Symbol.asyncDispose]: async () => source[Symbol.dispose]() };
  };
  const about: Partial<ExportSource> = { open: open("recording", bytes) };
  const source = exportSource(bytes, { ...about, ...(index && { openIndex: open("index", index) }) });
  const requestsOf = (of: "recording" | "index") => requests.filter((request) => request.of === of);
  return { source, memory, requestsOf };
}

const attachments = [{ name: "map.bin", data: new Uint8Array(3 * MIB).fill(7) }];
const topics = demoTopics.map((topic) => (topic.kind === "camera" ? { ...topic, sizeBytes: 4000 } : topic));
const drive = { topics, durationSeconds: 20, chunkBytes: 96 * 1024, startNs: START_NS };
const files = {
  "compressed chunks": await makeMcap({ ...drive, compression: "zstd", attachments }),
  "chunks as they are": await makeMcap({ ...drive, compression: "", attachments }),
  "messages out of order": await makeMcap({ ...drive, disorderNs: 3_000_000_000n }),
};
const selections = {
  everything: { includeAttachments: true },
  "another compression": { compression: "lz4" },
  "a window": { startNs: START_NS + 5_000_000_000n, endNs: START_NS + 8_000_000_000n },
  "a topic": { topics: ["/gps"] },
  "the latest messages": { startNs: START_NS + 15_000_000_000n, lastPerChannel: { lookbackNs: undefined } },
} as const;

for (const [turn, [name, bytes]] of Object.entries(files).entries())
  for (const [selected, selection] of firstCases(2, fromTurn(turn, Object.entries(selections))))
    test(`${selected} of a distant recording with ${name} is the same as of a near one, with an index and without`, async () => {
      const expected = await exportBytes([exportSource(bytes)], selection);
      for (const index of [await makeIndex(bytesSource(bytes)), undefined]) {
        const { source, memory } = makeDistant(bytes, index);
        assert.ok(Buffer.from(await exportBytes([source], selection)).equals(expected));
        (await memory.take(128 * MIB, undefined))[Symbol.dispose]();
      }
    });

/** `npm test` takes other selections of each file. */
function fromTurn<T>(turn: number, cases: readonly T[]): T[] {
  return [...cases.slice(2 * turn), ...cases.slice(0, 2 * turn)];
}

/** A recording of one minute that has so many bytes, in messages of two topics. */
function minuteOf(sizeBytes: number): Promise<Uint8Array> {
  const messages = Array.from({ length: 600 }, (_, index) => ({
    topic: index % 2 === 0 ? "/a" : "/b",
    logTimeNs: START_NS + BigInt(index) * 100_000_000n,
    data: new Uint8Array(Math.ceil(sizeBytes / 600)).fill(index),
  }));
  const file = { topics: ["/a", "/b"], schema: "s", compression: "", chunkBytes: 256 * 1024, isIndexed: true } as const;
  return writeMessages({ ...file, messages });
}

test("a whole export reads a distant recording by a request for each 8 MiB and few more, and hardly a byte twice", async () => {
  const bytes = await minuteOf(18 * MIB);
  const { source, requestsOf } = makeDistant(bytes, await makeIndex(bytesSource(bytes)));
  await exportBytes([source], { compression: "" });
  const ofRecording = requestsOf("recording");
  const readBytes = ofRecording.reduce((sum, request) => sum + request.bytes, 0);
  assert.ok(bytes.byteLength > 16 * MIB, `${bytes.byteLength} bytes`);
  assert.ok(ofRecording.length <= Math.ceil(bytes.byteLength / (8 * MIB)) + 2, `${ofRecording.length} requests`);
  assert.ok(readBytes < bytes.byteLength * 1.01, `${readBytes} bytes`);
  assert.ok(requestsOf("index").length <= 2);
});

test("a window reads the part of a distant recording that holds it", async () => {
  const bytes = await minuteOf(6 * MIB);
  const { source, requestsOf } = makeDistant(bytes, await makeIndex(bytesSource(bytes)));
  const exported = await exportBytes([source], {
    startNs: START_NS + 20_000_000_000n,
    endNs: START_NS + 25_000_000_000n,
  });
  const ofRecording = requestsOf("recording");
  const readBytes = ofRecording.reduce((sum, request) => sum + request.bytes, 0);
  assert.ok(exported.byteLength > 0);
  assert.ok(ofRecording.length <= 3, `${ofRecording.length} requests`);
  assert.ok(readBytes < bytes.byteLength * 0.15, `${readBytes} of ${bytes.byteLength} bytes`);
});
