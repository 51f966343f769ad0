import assert from "node:assert/strict";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { after, before, test } from "node:test";
import { collect } from "../testing/collect.ts";
import { makeMcap } from "../testing/make-mcap.ts";
import { readIndexedMessages } from "../testing/read-messages.ts";
import { makeToy, type ToyMessage } from "../testing/toy-format/make-toy.ts";
import { toyFormat } from "../testing/toy-format/toy-format.ts";

/*
 * These tests add a format as CONTRIBUTING.md says: to a copy of this package they add a folder and a row of `formats.ts`, nothing else, and
 * then they call what the control plane and the agent call. It is a copy because threads load the sources themselves.
 */
const SOURCES = join(import.meta.dirname, "..");
const ROW = "  toy: toyFormat,";
const IMPORT = 'import { toyFormat } from "../testing/toy-format/toy-format.ts";';

let folder: string;
let recordings: typeof import("../index.ts");
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "add-format-"));
  await cp(SOURCES, join(folder, "src"), { recursive: true, filter: isNeeded });
  await symlink(join(SOURCES, "..", "node_modules"), join(folder, "node_modules"));
  await cp(join(SOURCES, "..", "package.json"), join(folder, "package.json"));
  const path = join(folder, "src", "formats", "formats.ts");
  const text = await readFile(path, "utf8");
  const added = text.replace(/^export const formats: .*$/m, (line) => `${IMPORT}\n${line}\n${ROW}`);
  assert.notEqual(added, text);
  await writeFile(path, added);
  recordings = (await import(join(folder, "src", "index.ts"))) as typeof recordings;
});
after(() => rm(folder, { recursive: true, force: true }));

function isNeeded(path: string): boolean {
  const name = relative(SOURCES, path);
  return !/\.(test|slow)\.ts$/.test(name) && !/^testing\/(?!toy-format)/.test(name);
}

const MIB = 1024 * 1024;
const text = (value: string): Uint8Array => Buffer.from(value);
const at = (logTimeNs: bigint, topic: string, data = text(`${topic} ${logTimeNs}`)): ToyMessage => {
  return { topic, logTimeNs, data };
};
/** The blocks overlap, and the second is not in order. */
const blocks: ToyMessage[][] = [
  [at(10n, "/a"), at(20n, "/b"), at(60n, "/a")],
  [at(50n, "/a"), at(40n, "/b"), at(70n, "/b")],
  [at(80n, "/a"), at(90n, "/a")],
];

async function store(name: string, bytes: Uint8Array): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, bytes);
  return path;
}

/** The recording as the control plane exports it: with the index that was made when it was imported. */
async function sourceOf(path: string) {
  const { FileSource, indexRecording } = recordings;
  const pieces: Uint8Array[] = [];
  await using file = await FileSource.open(path);
  const write = async (piece: Uint8Array): Promise<void> => void pieces.push(piece);
  const indexed = await indexRecording(file, { fileName: path, write });
  if (!("summary" in indexed)) assert.fail(indexed.reason.text);
  const index = recordings.bytesSource(Buffer.concat(pieces));
  const openIndex = async () => ({ ...index, [Symbol.asyncDispose]: async () => {} });
  const [startNs, endNs] = [indexed.summary.startNs!, indexed.summary.endNs!];
  const source = { fileName: path, startNs, endNs, open: () => FileSource.open(path), openIndex };
  return { source, summary: indexed.summary };
}

async function exportAll(
  paths: readonly string[],
  options: Partial<import("../index.ts").McapExportOptions> = {},
): Promise<Uint8Array> {
  await using pool = new recordings.RewritePool({ threadCount: 1 });
  const sources = await Promise.all(paths.map(async (path) => (await sourceOf(path)).source));
  return await collect(recordings.exportMcap(sources, { compression: "lz4", pool, ...options }));
}

async function messagesOf(bytes: Uint8Array): Promise<ToyMessage[]> {
  const messages = await readIndexedMessages(bytes);
  return messages.map(({ topic, logTimeNs, data }) => ({ topic, logTimeNs, data: Buffer.from(data) }));
}

function inOrder(messages: readonly ToyMessage[]): ToyMessage[] {
  const sorted = messages.toSorted((a, b) => Number(a.logTimeNs - b.logTimeNs));
  return sorted.map((message) => ({ ...message, data: Buffer.from(message.data) }));
}

test("a format that was added by a folder and a row is looked at, summarized and indexed", async () => {
  const { FileSource, inspectRecording, inspectSummary, findEnd, recordingFormatOf, extensionOf } = recordings;
  const path = await store("look.toy", makeToy(blocks));
  const format = recordingFormatOf("runs/LOOK.toy.active");
  assert.deepEqual([format, format && extensionOf(format)], [toyFormat.name, toyFormat.extension]);
  await using file = await FileSource.open(path);
  const looked = await inspectRecording(file, { fileName: path });
  const read = await inspectRecording(file, { fileName: "unnamed", verifyChunks: true });
  for (const found of [looked, read]) {
    assert.ok(found.state === "finished");
    const { topics, messageCount, startNs, endNs } = found.summary;
    assert.deepEqual([found.summary.format, messageCount, startNs, endNs], [toyFormat.name, 8, 10n, 90n]);
    assert.deepEqual(
      topics.map(({ topic, messageCount: count }) => [topic, count]),
      [
        ["/a", 5],
        ["/b", 3],
      ],
    );
  }
  assert.equal(await inspectSummary(file, { fileName: path }), undefined);
  assert.equal(await findEnd(file, path), "there");
  assert.deepEqual((await sourceOf(path)).summary.startNs, 10n);
});

test("what is wrong with its files is said as of any other format", async () => {
  const { bytesSource, inspectRecording, findEnd } = recordings;
  const bytes = makeToy(blocks);
  const reasonOf = async (content: Uint8Array, fileName: string) => {
    const found = await inspectRecording(bytesSource(content), { fileName });
    return "reason" in found ? `${found.reason.code}: ${found.reason.text}` : found.state;
  };
  assert.match(
    await reasonOf(bytes, "a.mcap"),
    /^WrongExtension: .*its content is a toy log; rename it to end in \.toy$/,
  );
  assert.match(await reasonOf(await makeMcap({}), "a.toy"), /^WrongExtension: .*named as a toy log/);
  assert.match(await reasonOf(text("something else"), "a"), /^NotARecording: .*a toy log/);
  assert.match(await reasonOf(bytes.subarray(0, 4), "a.toy"), /^NoEnd/);
  assert.match(await reasonOf(bytes.subarray(0, -1), "a.toy"), /^NoEnd/);
  assert.match(await reasonOf(Buffer.concat([text("T0YLOG\n"), bytes.subarray(7)]), "a.toy"), /^BadMagic/);
  assert.equal(await findEnd(bytesSource(bytes.subarray(0, -1)), "a.toy"), "missing");
});

for (const compression of ["", "zstd"] as const)
  test(`its messages are exported as MCAP in order of log time, of blocks compressed by "${compression}"`, async () => {
    const path = await store(`whole${compression}.toy`, makeToy(blocks, compression));
    assert.deepEqual(await messagesOf(await exportAll([path])), inOrder(blocks.flat()));
    const some = await exportAll([path], { topics: ["/b"], startNs: 30n, endNs: 60n });
    assert.deepEqual(await messagesOf(some), inOrder([at(40n, "/b")]));
    const latest = await exportAll([path], { startNs: 75n, lastPerChannel: {} });
    assert.deepEqual(await messagesOf(latest), inOrder([at(60n, "/a"), at(70n, "/b"), ...blocks[2]!]));
  });

test("they are merged with those of another format", async () => {
  const mcap = await makeMcap({ startNs: 5n, durationSeconds: 1 });
  const paths = [await store("with.toy", makeToy(blocks)), await store("with.mcap", mcap)];
  const merged = await messagesOf(await exportAll(paths));
  const expected = inOrder([...blocks.flat(), ...(await messagesOf(mcap))]);
  assert.deepEqual(
    merged.map(({ logTimeNs }) => logTimeNs),
    expected.map(({ logTimeNs }) => logTimeNs),
  );
  assert.deepEqual(
    merged.filter(({ topic }) => topic === "/a" || topic === "/b"),
    inOrder(blocks.flat()),
  );
});

test("blocks and messages that are too large to be held are exported in pieces", async () => {
  const huge = at(30n, "/huge", Buffer.alloc(17 * MIB, 7));
  const sorted = [at(10n, "/a"), huge, at(40n, "/a")];
  for (const messages of [sorted, sorted.toReversed()]) {
    const path = await store("large.toy", makeToy([messages], ""));
    const exported = await messagesOf(await exportAll([path]));
    assert.ok(exported.every(({ data }, index) => Buffer.from(sorted[index]!.data).equals(data)));
    assert.deepEqual(
      exported.map(({ logTimeNs }) => logTimeNs),
      [10n, 30n, 40n],
    );
  }
});

test("its topics are digested and split, and its profile is that of its exports", async () => {
  const { digestTopics, splitRecording, inspectRecording, bytesSource } = recordings;
  const path = await store("split.toy", makeToy(blocks));
  const { source } = await sourceOf(path);
  const digests = await digestTopics(source);
  await using split = await splitRecording(source, { spillPath: join(folder, "spill") });
  assert.deepEqual(
    split.topics.map(({ topic, sha256, messageCount }) => ({ topic, sha256, messageCount })),
    digests.map(({ topic, sha256, messageCount }) => ({ topic, sha256, messageCount })),
  );
  const exported = await inspectRecording(bytesSource(await exportAll([path])), { fileName: "a.mcap" });
  assert.ok(exported.state === "finished");
  assert.equal(exported.summary.profile, toyFormat.profile);
});

test("what is readable of a file that was cut off is salvaged", async () => {
  const { bytesSource, inspectRecording, salvageRecording, maySalvage } = recordings;
  const bytes = makeToy(blocks).subarray(0, -8);
  const found = await inspectRecording(bytesSource(bytes), { fileName: "cut.toy", salvage: true });
  assert.ok(found.state === "incomplete" && maySalvage(found.reason.code));
  assert.equal(found.salvage?.messageCount, 6);
  const describe = () => ({ name: "test", metadata: {} });
  const salvaged = await collect(salvageRecording(bytesSource(bytes), { fileName: "cut.toy", describe }));
  assert.deepEqual(await messagesOf(salvaged), inOrder(blocks.slice(0, 2).flat()));
});

test("a bag of it is refused, because a bag is only made of bags", async () => {
  const { source } = await sourceOf(await store("no-bag.toy", makeToy(blocks)));
  await using pool = new recordings.RewritePool({ threadCount: 1 });
  const bag = collect(recordings.exportBag([source], { compression: "lz4", pool }));
  await assert.rejects(bag, { code: "NotABag" });
});
