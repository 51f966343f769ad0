import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { test } from "node:test";
import { holdOddFile } from "./testing/hold-odd-file.ts";
import { makeMcap } from "./testing/make-mcap.ts";
import { mutateOddMcap } from "./testing/mutate-odd-mcap.ts";
import { keyOf, without } from "./testing/odd/content-key.ts";
import { oddKinds } from "./testing/odd/kinds.ts";
import { makeOddMcap, type OddMcap, type OddMessage } from "./testing/odd-mcap.ts";
import { propertyRuns } from "./testing/property-runs.ts";
import { readOddFile } from "./testing/read-odd-file.ts";
import { listSharedFiles, oddFolder, skipWithout } from "./testing/shared-data.ts";
import { readSlowly } from "./testing/slow-mcap-reader.ts";
import { slowTest } from "./testing/slow-test.ts";

const skip = skipWithout(oddFolder);
const seeds = Array.from({ length: propertyRuns(60) }, (_, index) => index);
const common = oddKinds.filter(({ isRare }) => !isRare);

test("the same seed makes the same file", () => {
  for (const seed of [1, 7, 30]) {
    assert.deepEqual(makeOddMcap(seed), makeOddMcap(seed));
    assert.deepEqual(mutateOddMcap(seed), mutateOddMcap(seed));
  }
});

test("the slow reader finds what was written, whatever is odd, and reports what is lost", () => {
  for (const { name } of common) for (const seed of seeds.slice(0, 4)) requireFound(makeOddMcap(seed, [name]));
  for (const seed of seeds) requireFound(makeOddMcap(seed));
});

function requireFound(odd: OddMcap): void {
  const { messages, damage } = readSlowly(odd.bytes);
  const about = `seed ${odd.seed}: ${odd.kinds.join(", ")}`;
  const [found, written] = [messages, odd.messages].map((list) => list.map(keyOf)) as [string[], string[]];
  if (odd.isDamaged)
    assert.ok(
      damage.some(({ isGrave }) => isGrave),
      about,
    );
  else assert.deepEqual(found, written, about);
  if (odd.isLegal) assert.deepEqual(damage, [], about);
}

test("an end of the data that stands in the summary once more refutes nothing that the first has confirmed", async () => {
  const whole = Buffer.from(await makeMcap({ isChunked: false, features: { useSummaryOffsets: false } }));
  const footerAt = whole.byteLength - 8 - 29;
  const summaryAt = Number(whole.readBigUInt64LE(footerAt + 9));
  const dataEnd = whole.subarray(summaryAt - 13, summaryAt);
  const twice = Buffer.concat([whole.subarray(0, footerAt), dataEnd, whole.subarray(footerAt)]);
  assert.deepEqual(
    readSlowly(twice).damage.map(({ isGrave }) => isGrave),
    [false],
  );
  twice[100]! ^= 1;
  assert.ok(readSlowly(twice).damage.some(({ isGrave }) => isGrave));
});

interface WrittenByOthers {
  readonly topic: string;
  readonly messageEncoding: string;
  readonly schemaName: string;
  readonly logTime: string;
  readonly publishTime: string;
  readonly sequence: number;
  /** The first 16 digits. */
  readonly sha256: string;
}

test("the slow reader finds what stands in each odd file of other programs, or reports what is lost", {
  skip,
}, async () => {
  const expected = JSON.parse(await readFile(join(oddFolder, "expected.json"), "utf8")) as Record<
    string,
    WrittenByOthers[]
  >;
  const paths = listSharedFiles(oddFolder, ".mcap");
  assert.equal(paths.length, Object.keys(expected).length);
  for (const path of paths) {
    const name = basename(path, ".mcap");
    const { messages, isDamaged } = readOddFile(await readFile(path), { seed: 0, kinds: [name] });
    const written = expected[name]!.map((message) => JSON.stringify(message));
    const found = messages.map((message) => JSON.stringify(toWritten(message)));
    assert.deepEqual(without(found, written), [], name);
    if (!isDamaged) assert.deepEqual(without(written, found), [], name);
  }
});

function toWritten({ topic, messageEncoding, schemaName, ...message }: OddMessage): WrittenByOthers {
  const { logTimeNs, publishTimeNs, sequence, data } = message;
  const sha256 = createHash("sha256").update(data).digest("hex").slice(0, 16);
  return {
    topic,
    messageEncoding,
    schemaName,
    logTime: `${logTimeNs}`,
    publishTime: `${publishTimeNs}`,
    sequence,
    sha256,
  };
}

slowTest(
  "an odd file of another program is given whole, or refused, or what is missing is reported",
  {
    skip,
  },
  async (t) => {
    for (const path of listSharedFiles(oddFolder, ".mcap")) {
      const name = basename(path, ".mcap");
      const bytes = await readFile(path);
      const compression = name.startsWith("zstd") ? "zstd" : "lz4";
      await t.test(name, async () => {
        // Each seed asks for other parts of it.
        for (let seed = 0; seed < (bytes.byteLength < 50_000 ? 4 : 1); seed += 1)
          await holdOddFile(readOddFile(bytes, { seed, kinds: [name], isLegal: legalNames.has(name), compression }));
      });
    }
  },
);

/** The format allows them: there is no reason to refuse them. */
const legalNames: ReadonlySet<string> = new Set([
  "attachment_outside_window_of_messages",
  "chunk_20MB_passed",
  "chunk_padded_no_summary",
  "chunk_record_padded",
  "lz4_two_frames",
  "schema_id_0_record",
  "stats_no_chunk_index_loose",
  "time_max_i63",
  "zero_length_record_in_chunk",
  "zstd_skippable_frame",
  "zstd_two_frames",
]);

test("a file of any oddities is given whole, or refused, or what is missing is reported", {}, async (t) => {
  for (const seed of seeds) {
    const odd = makeOddMcap(seed);
    await t.test(`seed ${seed}: ${odd.kinds.join(", ")}`, async () => {
      await holdOddFile(odd);
    });
  }
});

test("a made file that was changed is given as a slow reader finds it, or refused", {}, async (t) => {
  for (const seed of seeds.slice(0, propertyRuns(30))) {
    const odd = mutateOddMcap(seed);
    await t.test(`seed ${seed}: ${odd.kinds.join(", ")}`, async () => {
      await holdOddFile(odd);
    });
  }
});
