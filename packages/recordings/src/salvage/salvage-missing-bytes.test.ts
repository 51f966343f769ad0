import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import { inspectRecording } from "../inspect/inspect.ts";
import { bytesSource } from "../sources/source.ts";
import type { RecordingDamage } from "../survey/summary.ts";
import { type BuiltChunk, type BuiltMcap, buildMcap, type McapStyle } from "../testing/damaged/build-mcap.ts";
import { createDice } from "../testing/odd/dice.ts";
import { readMessages } from "../testing/read-messages.ts";
import { salvage, salvagePool } from "../testing/salvage-bytes.ts";

// Where bytes are missing or flipped, the sound chunks around them are read, by what the sound parts say of their channels.

interface Found {
  /** Topic, time and data of each message. */
  readonly keys: string[];
  readonly damage: RecordingDamage | undefined;
}

/** Requires that survey and salvage agree. The file has no end, so that it is not surveyed by its summary. */
async function lookAt(whole: Uint8Array): Promise<Found> {
  const bytes = whole.subarray(0, -1);
  const inspection = await inspectRecording(bytesSource(bytes), { fileName: "run.mcap", salvage: true });
  assert.ok("salvage" in inspection && inspection.salvage, inspection.state);
  const messages = readMessages(await salvage(bytes, "run.mcap", salvagePool));
  const { messageCount, topics, damage } = inspection.salvage;
  const given = new Set(messages.map(({ topic }) => topic));
  assert.deepEqual([messageCount, topics.toSorted()], [messages.length, [...given].sort()]);
  return { keys: messages.map(keyOf), damage };
}

function keyOf({ topic, logTimeNs, data }: { topic: string; logTimeNs: bigint; data: Uint8Array }): string {
  return `${topic} ${logTimeNs} ${crc32(data)}`;
}

/** The messages of all chunks but this one. */
function keysBut(built: BuiltMcap, lost: number): string[] {
  const before = built.chunks.slice(0, lost).reduce((sum, { messageCount }) => sum + messageCount, 0);
  const keys = built.messages.map(keyOf);
  keys.splice(before, built.chunks[lost]!.messageCount);
  return keys;
}

function build(seed: number, style: Partial<McapStyle>): BuiltMcap & { bytes: Buffer } {
  return buildMcap(createDice(seed), { compression: "", hasSummary: false, ...style });
}

function takeOut(bytes: Buffer, at: number, missingBytes: number): Buffer {
  return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + missingBytes)]);
}

/** Flips a bit of each text of this kind in a chunk. */
function flipText(bytes: Buffer, text: string, { at, end }: BuiltChunk): Buffer {
  const flipped = Buffer.from(bytes);
  for (let found = flipped.indexOf(text, at); found >= 0 && found < end; found = flipped.indexOf(text, found + 1))
    flipped[found + 2]! ^= 4;
  return flipped;
}

test("channels that sound chunks introduce count, also if those of a chunk before that its checksum refutes are others", async () => {
  for (const hasSummary of [false, true]) {
    const built = build(1, { hasChecksums: true, repeatsChannels: true, hasSummary });
    const bytes = flipText(built.bytes, "/robot/odom", built.chunks[0]!);
    const { keys, damage } = await lookAt(bytes);
    assert.deepEqual(keys, keysBut(built, 0));
    assert.equal(damage?.messagesGuessed, undefined);
  }
  for (const compression of ["lz4", "zstd"] as const) {
    const built = build(2, { compression, hasChecksums: true, repeatsChannels: true });
    const { contentAt, end } = built.chunks[0]!;
    for (let at = contentAt; at < end; at += Math.ceil((end - contentAt) / 9)) {
      const bytes = Buffer.from(built.bytes);
      bytes[at]! ^= 16;
      const { keys } = await lookAt(bytes);
      // A bit of the frame's head may say nothing of the content, which the checksum then confirms.
      const isWhole = keys.length === built.messages.length;
      assert.deepEqual(keys, isWhole ? built.messages.map(keyOf) : keysBut(built, 0), `${compression}, byte ${at}`);
    }
  }
});

test("channels that stand only in a chunk that its checksum refutes fill gaps, and their messages count as guessed", async () => {
  for (const compression of ["", "lz4", "zstd"] as const) {
    const built = build(3, { compression, hasChecksums: true, repeatsChannels: false });
    const bytes = Buffer.from(built.bytes);
    bytes[built.chunks[0]!.at + 33]! ^= 1; // The checksum.
    const { keys, damage } = await lookAt(bytes);
    assert.deepEqual(keys, keysBut(built, 0), compression);
    assert.equal(damage?.messagesGuessed, keys.length);
  }
});

test("what the beginning of a damaged chunk says of a channel counts less than what whole chunks say", async () => {
  const built = build(9, { hasChecksums: false, repeatsChannels: true });
  const { at, end, contentAt } = built.chunks[0]!;
  const bytes = Buffer.from(built.bytes);
  for (let topic = bytes.indexOf("/robot/", at); topic >= 0 && topic < end; topic = bytes.indexOf("/robot/", topic + 1))
    bytes.write("another", topic, "latin1");
  bytes.fill(0xff, Math.floor((contentAt + end) / 2) + 200, end); // Its second half.
  const { keys } = await lookAt(bytes);
  assert.deepEqual(
    keysBut(built, 0).filter((key) => !keys.includes(key)),
    [],
  );
});

test("of topics that no checksum proves the one that is said most often counts", async () => {
  const built = build(11, { hasChecksums: false, repeatsChannels: true });
  for (const chunk of [built.chunks[0]!, built.chunks[1]!]) {
    const bytes = flipText(built.bytes, "/robot/odom", chunk);
    assert.deepEqual((await lookAt(bytes)).keys, built.messages.map(keyOf));
  }
});

test("a chunk is read that begins inside a message index or a chunk of which bytes are missing", async () => {
  for (const hasSummary of [false, true])
    for (const missingBytes of [1, 4, 12, 30]) {
      const built = build(5, { hasChecksums: true, hasIndexes: true, hasSummary });
      const bytes = takeOut(built.bytes, built.chunks[1]!.indexesEnd - missingBytes, missingBytes);
      assert.deepEqual((await lookAt(bytes)).keys, built.messages.map(keyOf), `${missingBytes} bytes of an index`);
    }
  for (const hasChecksums of [false, true])
    for (const compression of ["", "lz4", "zstd"] as const)
      for (const missingBytes of [1, 50, 96, 131]) {
        const style = { compression, hasChecksums, hasIndexes: hasChecksums, repeatsChannels: true };
        const built = build(6, style);
        const { contentAt, end } = built.chunks[1]!;
        const bytes = takeOut(built.bytes, Math.floor((contentAt + end) / 2), missingBytes);
        const { keys } = await lookAt(bytes);
        const lost = keysBut(built, 1).filter((key) => !keys.includes(key));
        assert.deepEqual(lost, [], `${compression}, ${missingBytes} bytes of a chunk, checksums: ${hasChecksums}`);
      }
});

test("a chunk without a checksum that lacks the last of its bytes is filled by those of the next, which is read all the same", async () => {
  const built = build(8, { hasChecksums: false, hasIndexes: false, repeatsChannels: true });
  const { end } = built.chunks[1]!;
  for (let missingBytes = 1; missingBytes < 40; missingBytes += 1) {
    const { keys } = await lookAt(takeOut(built.bytes, end - missingBytes, missingBytes));
    const lost = keysBut(built, 1).filter((key) => !keys.includes(key));
    assert.deepEqual(lost, [], `${missingBytes} bytes`);
  }
});

test("without checksums and a summary the channels are known that stand behind the damage in the first chunk", async () => {
  const built = build(7, { hasChecksums: false, repeatsChannels: false });
  const { contentAt, end } = built.chunks[0]!;
  const first = built.bytes.indexOf("ros2msg", contentAt);
  assert.ok(first < end);
  for (const at of [contentAt + 3, first]) {
    const bytes = Buffer.from(built.bytes);
    bytes[at]! ^= 64;
    const { keys } = await lookAt(bytes);
    assert.deepEqual(
      keysBut(built, 0).filter((key) => !keys.includes(key)),
      [],
      `byte ${at}`,
    );
  }
});
