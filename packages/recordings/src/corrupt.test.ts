import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { RecordingError } from "./faults/reasons.ts";
import { inspectRecording, isFinished } from "./inspect/inspect.ts";
import { bytesSource, countReads } from "./sources/source.ts";
import { type CorruptFile, corrupt } from "./testing/corrupt.ts";
import { exportBytes } from "./testing/export-bytes.ts";
import { makeBag } from "./testing/make-bag.ts";
import { makeMcap } from "./testing/make-mcap.ts";
import { propertyRuns } from "./testing/property-runs.ts";
import { readMessages } from "./testing/read-messages.ts";
import type { TopicSpec } from "./testing/sensors.ts";
import { firstCases, slowTest } from "./testing/slow-test.ts";

const topics: TopicSpec[] = [
  { topic: "/imu", kind: "imu", rateHz: 50 },
  { topic: "/blob", kind: "blob", rateHz: 20, sizeBytes: 300 },
];
const metadata = [{ name: "downlink", metadata: { deviceName: "r2" } }];
const attachments = [{ name: "notes.txt", data: Buffer.from("all well") }];
const small = { topics, metadata, attachments, chunkBytes: 4096 };

const files: Record<string, Uint8Array> = {
  "indexed-zstd.mcap": await makeMcap(small),
  "indexed-lz4.mcap": await makeMcap({ ...small, compression: "lz4" }),
  "plain.mcap": await makeMcap({ ...small, compression: "" }),
  "without-index.mcap": await makeMcap({ ...small, isIndexed: false }),
  "without-chunks.mcap": await makeMcap({ ...small, isChunked: false }),
  "lz4.bag": await makeBag({ chunkBytes: 4096 }),
  "plain.bag": await makeBag({ chunkBytes: 4096, compression: "none" }),
};

/** More than a few passes over the file would mean a loop. */
async function examine(bytes: Uint8Array, fileName: string): Promise<string> {
  const source = countReads(bytesSource(bytes));
  const states = [];
  for (const options of [{}, { verifyChunks: true }, { salvage: true }]) {
    const inspection = await inspectRecording(source, { fileName, ...options });
    assert.ok(["finished", "empty", "incomplete", "damaged", "unsupported"].includes(inspection.state));
    if ("reason" in inspection) assert.ok(inspection.reason.code && inspection.reason.text.length > 20);
    if ("salvage" in inspection && inspection.salvage) {
      assert.equal(inspection.salvage.readableBytes + inspection.salvage.lostBytes, bytes.byteLength);
    }
    states.push("reason" in inspection ? `${inspection.state} ${inspection.reason.code}` : inspection.state);
  }
  const most = 64 * 1024 + 20 * bytes.byteLength;
  assert.ok(source.bytesRead <= most + source.reads * 4096, `${source.bytesRead} bytes read of ${bytes.byteLength}`);
  await isFinished(source, fileName);
  return states.join(", ");
}

/** One of each format; the others take as long as these with all their mutations. */
const QUICK: ReadonlySet<string> = new Set(["indexed-lz4.mcap", "lz4.bag"]);

for (const [fileName, bytes] of Object.entries(files)) {
  const declare: typeof slowTest = QUICK.has(fileName) ? test : slowTest;
  declare(`every broken variant of ${fileName} ends in a state, and an export throws a damage`, async () => {
    assert.equal(await examine(bytes, fileName), "finished, finished, finished");
    for (const [turn, variant] of variantsOf(bytes, fileName).entries()) {
      await examine(variant.bytes, variant.fileName);
      for (const compression of firstCases(1, inTurn(turn, ["", "zstd"] as const)))
        await exportOrFault(variant, compression);
    }
  });

  test(`any mutation of ${fileName} ends in a state`, async () => {
    const mutation = fc.record({
      at: fc.nat(bytes.byteLength - 1),
      put: fc.uint8Array({ maxLength: 12 }),
      // Mostly in place, so that what follows keeps its offsets.
      drop: fc.oneof(
        { weight: 8, arbitrary: fc.constant("as many") },
        { weight: 1, arbitrary: fc.nat(12) },
        { weight: 1, arbitrary: fc.nat(bytes.byteLength) },
      ),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 4 }), async (mutations) => {
        let mutated = bytes;
        for (const { at, put, drop } of mutations) {
          const dropped = typeof drop === "number" ? drop : put.byteLength;
          mutated = Buffer.concat([mutated.subarray(0, at), put, mutated.subarray(at + dropped)]);
        }
        await examine(mutated, fileName);
      }),
      { numRuns: propertyRuns(300) },
    );
  });
}

/** A third of them are bits that were flipped somewhere. */
function variantsOf(bytes: Uint8Array, fileName: string): CorruptFile[] {
  const { flipped = [], others = [] } = Object.groupBy(corrupt(bytes, fileName), ({ name }) =>
    name.startsWith("bit flips") ? "flipped" : "others",
  );
  return [...others, ...firstCases(6, flipped)];
}

/** `npm test` takes the other one for each second. */
function inTurn<T>(turn: number, [one, other]: readonly [T, T]): T[] {
  return turn % 2 === 0 ? [one, other] : [other, one];
}

async function exportOrFault({ bytes, fileName }: CorruptFile, compression: "" | "zstd"): Promise<void> {
  try {
    readMessages(await exportBytes(bytes, { fileName, compression }));
  } catch (error) {
    if (!(error instanceof RecordingError)) throw error;
  }
}

test("the broken variants have the names that their breakage deserves", async () => {
  const expected = {
    "indexed-zstd.mcap: empty": "incomplete EmptyFile",
    "indexed-zstd.mcap: cut off at 50 %": "incomplete NoEnd",
    "indexed-zstd.mcap: only the first 3 bytes": "incomplete NoEnd",
    "indexed-zstd.mcap: zeroed start": "damaged BadMagic",
    "indexed-zstd.mcap: zeroed whole": "damaged BadMagic",
    "indexed-zstd.mcap: text instead": "unsupported NotARecording",
    "indexed-zstd.mcap: appended rubbish": "incomplete NoEnd",
    "indexed-zstd.mcap: chunk that promises 4 GiB": "damaged ChunkTooLarge",
    "indexed-zstd.mcap: chunk that promises 200 MiB": "damaged BadChunk",
    "indexed-zstd.mcap: chunk that promises one byte": "damaged BadChunk",
    "indexed-zstd.mcap: chunk longer than the file": "damaged LengthBeyondFile",
    "indexed-zstd.mcap: chunk of another compression": "damaged UnknownCompression",
    "indexed-zstd.mcap: wrong extension": "unsupported WrongExtension",
    "lz4.bag: empty": "incomplete EmptyFile",
    "lz4.bag: cut off at 50 %": "incomplete NoEnd",
    "lz4.bag: chunk that promises 4 GiB": "damaged ChunkTooLarge",
    "lz4.bag: chunk that promises one byte": "damaged BadChunk",
    "lz4.bag: chunk longer than the file": "damaged LengthBeyondFile",
    "lz4.bag: chunk of another compression": "damaged UnknownCompression",
    "lz4.bag: appended rubbish": "damaged BadSummary",
    "lz4.bag: wrong extension": "unsupported WrongExtension",
  };
  const codes = new Map<string, string>();
  for (const fileName of ["indexed-zstd.mcap", "lz4.bag"]) {
    for (const variant of corrupt(files[fileName]!, fileName)) {
      if (!(`${fileName}: ${variant.name}` in expected)) continue;
      const found = await inspectRecording(bytesSource(variant.bytes), {
        fileName: variant.fileName,
        verifyChunks: true,
      });
      codes.set(
        `${fileName}: ${variant.name}`,
        "reason" in found ? `${found.state} ${found.reason.code}` : found.state,
      );
    }
  }
  for (const [name, code] of Object.entries(expected)) assert.equal(codes.get(name), code, name);
});

test("a file without a message whose summary is cut off does not count as whole, and neither does one whose statistics count some", async () => {
  const whole = Buffer.from(
    await makeMcap({ durationSeconds: 0, attachments: [{ name: "a", data: Buffer.alloc(9) }] }),
  );
  const footer = whole.byteLength - 8 - 29;
  const summary = Number(whole.readBigUInt64LE(footer + 9));
  const placeOf = (opcode: number): number => {
    let at = summary;
    while (whole[at] !== opcode) at += 9 + Number(whole.readBigUInt64LE(at + 1));
    return at;
  };
  const index = placeOf(0x0a); // of the attachment
  const cut = Buffer.concat([whole.subarray(0, index + 20), whole.subarray(index + 30)]);
  const counting = Buffer.from(whole);
  counting.writeBigUInt64LE(5n, placeOf(0x0b) + 9); // the statistics
  for (const bytes of [cut, counting]) {
    bytes.fill(0, bytes.byteLength - 12, bytes.byteLength - 8); // The checksum.
    const inspection = await inspectRecording(bytesSource(bytes), { fileName: "a.mcap" });
    const reasons = "reason" in inspection ? [inspection.reason] : inspection.summary.damage?.reasons;
    assert.equal(reasons?.length, 1, inspection.state);
  }
});

test("a length that no number holds stands in the reason as it is in the file", async () => {
  const bytes = Buffer.from(await makeMcap({ durationSeconds: 0.1 }));
  bytes.writeBigUInt64LE(12_399_753_484_610_102_491n, 8 + 1);
  const inspection = await inspectRecording(bytesSource(bytes), { fileName: "a.mcap", verifyChunks: true });
  assert.ok("reason" in inspection);
  assert.match(inspection.reason.text, /12399753484610102491 bytes/);
});
