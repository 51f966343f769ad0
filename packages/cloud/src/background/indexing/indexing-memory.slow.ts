import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { megabyteMs, writeLargeBag, writeLargeFile } from "@downlink/recordings/testing";
import type { IndexingJob, MeasuredIndexing } from "./testing/measure-indexing.ts";

/* Files with a chunk of 250 MB are indexed and exported at once in a process of its own. */
const run = promisify(execFile);
const directory = await mkdtemp(join(tmpdir(), "indexing-memory-"));
after(() => rm(directory, { recursive: true }));
const program = new URL("./testing/measure-indexing.ts", import.meta.url).pathname;

const chunkBytes = 250_000_000;
const startNs = 1_767_323_045_000_000_000n;
/** The limit in megabytes for the whole process, above what it used before. */
const mostIndexingMb = 500;
const mostTogetherMb = 700;
/** Three times what was seen, in encodings of a megabyte of JSON. */
const mostTurn = 24;

async function measure(job: IndexingJob): Promise<MeasuredIndexing> {
  const { stdout } = await run(process.execPath, [program, JSON.stringify(job)]);
  return JSON.parse(stdout);
}

test("eight files with large chunks are indexed at once, and four are exported beside them, within one budget", async (t) => {
  const [bag, noisy, wide, plain] = ["a.bag", "b.bag", "c.mcap", "d.mcap"].map((name) => join(directory, name));
  const few = await writeLargeBag(noisy!, { compression: "", messageBytes: 60_000_000, chunkBytes });
  const many = await writeLargeBag(bag!, { compression: "lz4", messageBytes: 1000, chunkBytes });
  const spec = { compression: "zstd", messageBytes: 200, chunkBytes, startNs } as const;
  const { all } = await writeLargeFile(wide!, { ...spec, windowLog: 27 });
  await writeLargeFile(plain!, spec);
  const indexed = [bag, noisy, wide, bag, noisy, wide, bag, wide].map((path) => path!);
  const counts = [many, few, all, many, few, all, many, all].map(({ count }) => count);
  for (const [exported, mostMb] of [
    [[], mostIndexingMb],
    [[bag, plain, bag, plain], mostTogetherMb],
  ] as const) {
    const { messageCounts, grownBytes, longestTurnMs } = await measure({ indexed, exported: exported.map(String) });
    const grownMb = Math.round(grownBytes / 1e6);
    t.diagnostic(`${exported.length} exports beside: ${grownMb} MB, turns of ${longestTurnMs} ms`);
    assert.deepEqual(messageCounts, counts);
    assert.ok(grownMb <= mostMb, `${grownMb} MB`);
    const turn = longestTurnMs / megabyteMs();
    assert.ok(turn <= mostTurn, `the main thread computed for as long as ${turn} MB of JSON take`);
  }
});
