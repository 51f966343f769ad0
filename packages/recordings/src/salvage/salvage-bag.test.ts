import assert from "node:assert/strict";
import { test } from "node:test";
import { inspectRecording } from "../inspect/inspect.ts";
import { bytesSource, countReads } from "../sources/source.ts";
import { type BagChunk, bagChunksOf, leaveOpen } from "../testing/bag-chunks.ts";
import { makeBag } from "../testing/make-bag.ts";
import { type BagMessage, readBagMessages } from "../testing/read-bag-messages.ts";
import { readMessages } from "../testing/read-messages.ts";
import { salvage, salvagePool } from "../testing/salvage-bytes.ts";

/** Requires that survey and salvage agree, and that the messages are the first of these. Answers how many there are. */
async function requireFirst(bytes: Uint8Array, whole: readonly BagMessage[]): Promise<number> {
  const inspection = await inspectRecording(bytesSource(bytes), { fileName: "run.bag", salvage: true });
  assert.ok("salvage" in inspection && inspection.salvage, inspection.state);
  const messages = readMessages(await salvage(bytes, "run.bag", salvagePool));
  const first = whole.slice(0, messages.length);
  assert.deepEqual(
    messages.map(({ topic, logTimeNs, data }) => [topic, logTimeNs, Buffer.from(data)]),
    first.map(({ topic, logTimeNs, data }) => [topic, logTimeNs, Buffer.from(data)]),
  );
  const { messageCount, startNs, endNs } = inspection.salvage;
  assert.deepEqual([messageCount, startNs, endNs], [first.length, first[0]?.logTimeNs, first.at(-1)?.logTimeNs]);
  return messages.length;
}

/** Where the record at `at` ends. */
function recordEnd(bytes: Uint8Array, at: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headerEnd = at + 4 + view.getUint32(at, true);
  return headerEnd + 4 + view.getUint32(headerEnd, true);
}

for (const compression of ["none", "lz4"] as const) {
  test(`the last whole chunk of a bag counts, whatever stands behind it, also if it is the only one: ${compression}`, async () => {
    const whole = await makeBag({ compression, chunkBytes: 8000 });
    const messages = await readBagMessages(whole);
    const chunks = bagChunksOf(whole);
    assert.ok(chunks.length > 5);
    for (const last of [0, 4]) {
      const { end, indexesEnd } = chunks[last]!;
      const count = chunks.slice(0, last + 1).reduce((sum, { messageCount }) => sum + messageCount, 0);
      const zeros = new Uint8Array(5000);
      for (const [name, bytes] of [
        ["no index data", whole.subarray(0, end)],
        ["cut in its index data", whole.subarray(0, end + 30)],
        ["cut between two of its index data", whole.subarray(0, recordEnd(whole, end))],
        ["its index data are whole", whole.subarray(0, indexesEnd)],
        ["zeros behind its index data", Buffer.concat([whole.subarray(0, indexesEnd), zeros])],
        ["zeros in its index data", Buffer.concat([whole.subarray(0, end + 20), zeros])],
        ["cut in the head of the next", whole.subarray(0, indexesEnd + 20)],
      ] as const)
        assert.equal(await requireFirst(bytes, messages), count, `${name}, chunk ${last}`);
    }
  });
}

test("a chunk of a bag that was cut, zeroed or never closed gives the messages before that place", async () => {
  const whole = await makeBag({ compression: "none", chunkBytes: 8000 });
  const messages = await readBagMessages(whole);
  const chunks = bagChunksOf(whole);
  for (const last of [0, 4]) {
    const chunk = chunks[last]!;
    const before = chunks.slice(0, last).reduce((sum, { messageCount }) => sum + messageCount, 0);
    const middle = Math.floor((chunk.dataAt + chunk.end) / 2);
    const cut = await requireFirst(whole.subarray(0, middle), messages);
    assert.ok(cut > before + 5 && cut < before + chunk.messageCount, `${cut}`);
    assert.equal(await requireFirst(leaveOpen(whole, chunk, middle), messages), cut);
    const zeroed = Buffer.concat([whole.subarray(0, middle), new Uint8Array(20_000)]);
    assert.ok([cut, cut + 1].includes(readMessages(await salvage(zeroed, "run.bag", salvagePool)).length));
  }
});

test("what a salvage takes of a chunk without proof is said to be guessed, and what stands behind it is lost", async () => {
  const whole = await makeBag({ compression: "none", chunkBytes: 8000 });
  const [, chunk] = bagChunksOf(whole);
  const cut = whole.subarray(0, Math.floor((chunk!.dataAt + chunk!.end) / 2));
  const inspection = await inspectRecording(bytesSource(cut), { fileName: "run.bag", salvage: true });
  assert.ok(inspection.state === "incomplete" && inspection.salvage?.damage);
  const { damage, lostBytes } = inspection.salvage;
  assert.ok(damage.messagesGuessed! > 5 && !damage.isCountKnown);
  assert.deepEqual([damage.bytesLost, damage.messagesLost], [lostBytes, 0]);
});

test("behind a hole in a bag the next chunk is found, and connections that the hole took come from the index", async () => {
  const whole = Buffer.from(await makeBag({ chunkBytes: 8000 }));
  const chunks = bagChunksOf(whole);
  const total = chunks.reduce((sum, { messageCount }) => sum + messageCount, 0);
  for (const [from, to] of [
    [0, 0],
    [2, 4],
  ] as const) {
    const holed = Buffer.from(whole).fill(0, chunks[from]!.at + 3, chunks[to]!.at + 60);
    const lost = chunks.slice(from, to + 1).reduce((sum, { messageCount }) => sum + messageCount, 0);
    assert.equal(readMessages(await salvage(holed, "run.bag", salvagePool)).length, total - lost);
  }
});

test("heads of chunks that all reach to the end of a bag are not read again and again", async () => {
  const whole = Buffer.from(await makeBag({ compression: "none", chunkBytes: 8000 }));
  const [first] = bagChunksOf(whole);
  const head = Buffer.from(whole.subarray(first!.at, first!.dataAt));
  head.writeUInt32LE(2 ** 32 - 1, head.byteLength - 4);
  const many = Buffer.concat([whole.subarray(0, first!.indexesEnd), ...Array.from({ length: 5000 }, () => head)]);
  const source = countReads(bytesSource(many));
  await inspectRecording(source, { fileName: "run.bag", salvage: true });
  // The bytes that are read to judge places are bounded (see `boundJudging`); each head to its end would be 600 MB.
  assert.ok(source.bytesRead < 64 * 1024 ** 2 + 24 * many.byteLength, `${source.bytesRead} of ${many.byteLength}`);
  assert.equal(readMessages(await salvage(many, "run.bag", salvagePool)).length, first!.messageCount);
});

test("a record of a bag whose length is damaged hides none of the chunks that it seems to cover", async () => {
  const whole = await makeBag({ chunkBytes: 8000 });
  const messages = await readBagMessages(whole);
  const [first] = bagChunksOf(whole);
  for (const [name, at] of [
    ["the bag header", 13],
    ["index data", first!.end],
  ] as const) {
    const bytes = Buffer.from(whole.subarray(0, -1));
    const lengthAt = at + 4 + bytes.readUInt32LE(at);
    bytes.writeUInt32LE(bytes.readUInt32LE(lengthAt) + 12_000, lengthAt);
    assert.equal(await requireFirst(bytes, messages), messages.length, name);
  }
});

for (const compression of ["none", "lz4"] as const) {
  test(`a chunk of a bag whose field with the name of its compression is damaged is read by what its data are: ${compression}`, async () => {
    const whole = await makeBag({ compression, chunkBytes: 8000 });
    const messages = await readBagMessages(whole);
    const [, second] = bagChunksOf(whole);
    for (const place of ["compression=".indexOf("p"), "compression=".length]) {
      const bytes = Buffer.from(whole.subarray(0, -1));
      bytes[bytes.indexOf("compression=", second!.at) + place]! ^= 1;
      assert.equal(await requireFirst(bytes, messages), messages.length, `byte ${place}`);
    }
  });
}

test("index data of which only the opcode is damaged are missed by the survey, so that it reads the chunk before them", async () => {
  const whole = await makeBag({ chunkBytes: 8000 });
  const messages = await readBagMessages(whole);
  const bytes = Buffer.from(whole.subarray(0, -1));
  const second = bagChunksOf(whole)[1]!;
  bytes[bytes.lastIndexOf("op=\u0004", second.indexesEnd) + 3]! ^= 16;
  assert.equal(await requireFirst(bytes, messages), messages.length);
});

test("a message that was cut off is not completed with the first bytes of the bag behind it", async () => {
  const whole = await makeBag({ compression: "none", chunkBytes: 8000 });
  const [chunk] = bagChunksOf(whole);
  const messages = await readBagMessages(whole);
  for (const missingBytes of [1, 12, 13, 14]) {
    const joined = Buffer.concat([leaveOpen(whole, chunk!, chunk!.end - missingBytes), whole]);
    const salvaged = readMessages(await salvage(joined, "run.bag", salvagePool));
    assert.equal(salvaged.length, chunk!.messageCount - 1 + messages.length, `${missingBytes} bytes are missing`);
    const written = new Set(messages.map(({ data }) => Buffer.from(data).toString("hex")));
    assert.ok(salvaged.every(({ data }) => written.has(Buffer.from(data).toString("hex"))));
  }
});

/** Requires that survey and salvage agree. Answers how many messages they give. */
async function countSalvaged(bytes: Uint8Array): Promise<number> {
  const inspection = await inspectRecording(bytesSource(bytes), { fileName: "run.bag", salvage: true });
  assert.ok("salvage" in inspection && inspection.salvage, inspection.state);
  const { length } = readMessages(await salvage(bytes, "run.bag", salvagePool));
  assert.equal(inspection.salvage.messageCount, length);
  return length;
}

for (const compression of ["none", "lz4", "bz2"] as const) {
  test(`behind damage the chunks of a bag are read that begin inside a damaged record, too: ${compression}`, async () => {
    const whole = Buffer.from(await makeBag({ compression, chunkBytes: 4000 }));
    const chunks = bagChunksOf(whole);
    const all = chunks.reduce((sum, { messageCount }) => sum + messageCount, 0);
    const [, , chunk] = chunks;
    const middle = Math.floor((chunk!.dataAt + chunk!.end) / 2);
    const flipped = Buffer.from(whole.subarray(0, -1));
    flipped[chunk!.end + 5]! ^= 1;
    const first = Buffer.from(whole.subarray(0, -1)).fill(0, 0, 4096);
    assert.equal(await countSalvaged(first), all, "the first bytes are zero");
    assert.equal(await countSalvaged(flipped), all, "a bit of its index data is flipped");
    for (const missingBytes of [1, 4, 100, 131]) {
      const index = Buffer.concat([
        whole.subarray(0, chunk!.indexesEnd - missingBytes),
        whole.subarray(chunk!.indexesEnd),
      ]);
      assert.equal(await countSalvaged(index), all, `${missingBytes} bytes of its index data are missing`);
      const data = Buffer.concat([whole.subarray(0, middle), whole.subarray(middle + missingBytes)]);
      const count = await countSalvaged(data);
      assert.ok(count >= all - chunk!.messageCount && count <= all, `${missingBytes} bytes are missing: ${count}`);
    }
  });
}

for (const compression of ["lz4", "bz2"] as const) {
  test(`the data of a chunk are found by their own marks if its head is damaged: ${compression}`, async () => {
    const whole = await makeBag({ compression, chunkBytes: 4000 });
    const chunks = bagChunksOf(whole);
    const all = chunks.reduce((sum, { messageCount }) => sum + messageCount, 0);
    const [, { at, dataAt }] = chunks as [BagChunk, BagChunk];
    for (const [name, from, to] of [
      ["all of it", at, dataAt],
      ["its opcode", whole.indexOf(0x05, at + 8), whole.indexOf(0x05, at + 8) + 1],
      ["its size", dataAt - 8, dataAt - 4],
    ] as const) {
      const bytes = Buffer.from(whole.subarray(0, -1)).fill(0x7f, from, to);
      assert.equal(await countSalvaged(bytes), all, name);
    }
  });
}
