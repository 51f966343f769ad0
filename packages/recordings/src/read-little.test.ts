import assert from "node:assert/strict";
import { mkdtemp, rm, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { inspectRecording, isFinished } from "./inspect/inspect.ts";
import { FileSource } from "./sources/file-source.ts";
import { countReads, type RandomAccessSource } from "./sources/source.ts";
import { MESSAGES_PER_CHUNK, makeLargeMcap } from "./testing/large-mcap.ts";
import { makeMcap, writeMcapFile } from "./testing/make-mcap.ts";

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

async function measure(large: RandomAccessSource) {
  const source = countReads(large);
  const inspection = await inspectRecording(source, { fileName: "large.mcap" });
  assert.ok(inspection.state === "finished", inspection.state);
  return { summary: inspection.summary, source };
}

test("indexing an indexed MCAP of 1 GB reads at most 1 MiB in a few reads", async () => {
  const large = makeLargeMcap({ chunkCount: 1000, chunkBytes: MIB, channelCount: 20, isIndexed: true });
  assert.ok(large.sizeBytes > 10 ** 9);
  const { summary, source } = await measure(large);
  assert.equal(summary.method, "index");
  assert.equal(summary.messageCount, 1000 * 20 * MESSAGES_PER_CHUNK);
  assert.equal(summary.endNs, 999_000_000_009n);
  assert.ok(source.bytesRead <= MIB, `${source.bytesRead} bytes`);
  assert.ok(source.reads <= 6, `${source.reads} reads`);
});

test("indexing an indexed MCAP of 50 GB reads at most 1 MiB, though its chunk indexes alone are larger", async () => {
  const large = makeLargeMcap({ chunkCount: 50_000, chunkBytes: MIB, channelCount: 5, isIndexed: true });
  assert.ok(large.sizeBytes > 50 * GIB * 0.97);
  const { summary, source } = await measure(large);
  assert.equal(summary.method, "index");
  assert.equal(summary.topics.length, 5);
  assert.equal(summary.messageCount, 50_000 * 5 * MESSAGES_PER_CHUNK);
  assert.ok(source.bytesRead <= MIB, `${source.bytesRead} bytes`);
  assert.ok(source.reads <= 6, `${source.reads} reads`);
});

test("skimming a 1 GB MCAP without summary reads its headers and message indexes, not its messages", async () => {
  const large = makeLargeMcap({ chunkCount: 1000, chunkBytes: MIB, channelCount: 20, isIndexed: false });
  const { summary, source } = await measure(large);
  assert.equal(summary.method, "skim");
  assert.equal(summary.messageCount, 1000 * 20 * MESSAGES_PER_CHUNK);
  assert.equal(summary.topics[3]!.messageCount, 1000 * MESSAGES_PER_CHUNK);
  assert.equal(summary.topics[3]!.startNs, 0n);
  assert.equal(summary.endNs, 999_000_000_009n);
  assert.ok(source.bytesRead <= 24 * MIB, `${source.bytesRead} bytes`);
});

test("the cheap check of a finished MCAP reads less than 100 bytes", async () => {
  const source = countReads(makeLargeMcap({ chunkCount: 10, chunkBytes: GIB, channelCount: 1, isIndexed: true }));
  assert.equal(await isFinished(source, "large.mcap"), true);
  assert.ok(source.bytesRead < 100, `${source.bytesRead} bytes`);
});

test("a real indexed file is indexed in at most 6 reads, and needs one or two more for each metadata record and attachment", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "recordings-"));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, "drive.mcap");
  const metadata = [{ name: "downlink", metadata: { deviceName: "r2" } }];
  const attachments = [{ name: "map.bin", data: new Uint8Array(3 * MIB) }];
  await writeMcapFile(path, { durationSeconds: 20, metadata, attachments });
  await using file = await FileSource.open(path);
  const { summary, source } = await measure(file);
  assert.equal(summary.method, "index");
  assert.equal(summary.identity.deviceName, "r2");
  assert.ok(source.reads <= 6 + 3, `${source.reads} reads`);
  assert.ok(source.bytesRead <= 128 * 1024, `${source.bytesRead} bytes`);
});

test("a sparse file on disk that ends in holes is incomplete, and says so without reading it", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "recordings-"));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, "preallocated.mcap");
  await writeMcapFile(path, { durationSeconds: 1 });
  const written = (await makeMcap({ durationSeconds: 1 })).byteLength;
  await truncate(path, written + GIB);
  await using file = await FileSource.open(path);
  const source = countReads(file);
  const inspection = await inspectRecording(source, { fileName: path });
  assert.ok(inspection.state === "incomplete" && inspection.reason.code === "NoEnd");
  assert.ok(source.bytesRead <= MIB);
});
