import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { TrainingMapping } from "@downlink/protocol";
import { setWriters } from "@downlink/training";
import { makeEpisode } from "@downlink/training/testing";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { parquetWriteBuffer } from "hyparquet-writer";
import { checkSet } from "./check-set.ts";
import type { Finding } from "./finding.ts";

const START_NS = 1_760_000_000_000_000_000n;
const DATA = "data/chunk-000/file-000.parquet";
const EPISODES = "meta/episodes/chunk-000/file-000.parquet";
const TASKS = "meta/tasks.parquet";
const ROWS = 30;

function episodeOf(id: string, startNs: bigint) {
  const messages = Array.from({ length: ROWS }, (_, index) => ({
    topic: "/n",
    atNs: startNs + BigInt(index) * 10_000_000n,
    value: [index],
  }));
  return makeEpisode({ id, messages, metadata: { task: id } });
}

/** Writes a set of two episodes with a row for each of their messages, as the service does. */
async function makeSet(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "downlink-dl-"));
  const features = { state: { dtype: "float32", parts: [{ topic: "/n" }] } };
  const mapping = TrainingMapping.parse({ fps: 100, maxGapMs: 0, features });
  const episodes = [episodeOf("epi_1", START_NS), episodeOf("epi_2", START_NS + 10_000_000_000n)];
  const open = (path: string) => {
    const pieces: Uint8Array[] = [];
    return {
      write: async (bytes: Uint8Array) => void pieces.push(bytes),
      close: async () => {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), Buffer.concat(pieces));
      },
    };
  };
  await setWriters["lerobot-v3"].write({ mapping, episodes, about: {}, open });
  return folder;
}

async function check(folder: string, format = "json") {
  const [output, notes] = [new PassThrough(), new PassThrough()];
  const ends = { output: output as unknown as NodeJS.WriteStream, notes };
  const failure = await checkSet({ folder, format, ...ends }).catch(String);
  return { failure, printed: String(output.read()), noted: String(notes.read()) };
}

type Rows = Record<string, unknown>[];

/** Writes a file again with other rows, and only with the columns that are numbers. */
async function rewrite(path: string, change: (rows: Rows) => Rows): Promise<void> {
  const rows = change(await parquetReadObjects({ file: await asyncBufferFromFile(path) }));
  const columns = Object.keys(rows[0]!).filter((name) => /^(bigint|number)$/.test(typeof rows[0]![name]));
  const columnData = columns.map((name) => ({
    ...{ name, data: rows.map((row) => row[name]) },
    type: typeof rows[0]![name] === "bigint" ? ("INT64" as const) : ("DOUBLE" as const),
  }));
  writeFileSync(path, Buffer.from(parquetWriteBuffer({ columnData })));
}

/** Changes a value of one row. */
const put = (row: number, name: string, value: unknown) => (rows: Rows) =>
  rows.map((values, at) => (at === row ? { ...values, [name]: value } : values));

function changeJson(path: string, change: (value: Record<string, unknown>) => object): void {
  writeFileSync(path, JSON.stringify(change(JSON.parse(readFileSync(path, "utf8")))));
}

test("a set as the service writes it has no findings, in each format", async () => {
  const folder = await makeSet();
  const { failure, noted } = await check(folder, "table");
  assert.deepEqual([failure, noted], [undefined, `${folder}: 2 episodes, 60 rows, no error\n`]);
  assert.deepEqual(JSON.parse((await check(folder)).printed), []);
  assert.equal((await check(folder, "csv")).printed, "severity,check,episode,text\n");
});

test("a finding has its check, its severity, its episode and a sentence, and an error ends with a failure", async () => {
  const folder = await makeSet();
  await rewrite(join(folder, DATA), put(ROWS + 3, "task_index", 7n));
  const { failure, printed } = await check(folder);
  const text = "its row 3 has the task 7, and there are 2";
  assert.deepEqual(JSON.parse(printed), [{ check: "tasks", severity: "error", text, episode: 1 }]);
  assert.match(String(failure), /^RefusedError: .* is not a whole set: 1 error$/);
  assert.match((await check(folder, "table")).printed, /^SEVERITY .*\nerror +tasks +1 +its row 3 has the task 7/);
});

test("a set of another format is not checked", async () => {
  const folder = await makeSet();
  changeJson(join(folder, "downlink.json"), (is) => ({ ...is, format: "parquet" }));
  const { failure } = await check(folder);
  assert.match(String(failure), /is a set of the format parquet, and check knows sets of lerobot-v3 only$/);
});

const info = "meta/info.json";
/** The checks are those of each finding that is an error. */
type Broken = readonly [name: string, checks: string, (at: (path: string) => string) => unknown];

const changeInfo = (change: object) => (at: (path: string) => string) =>
  changeJson(at(info), (is) => ({ ...is, ...change }));

const broken: readonly Broken[] = [
  ["no info", "files", (at) => rmSync(at(info))],
  ["an info that is cut", "metadata", (at) => truncateSync(at(info), 20)],
  ["an older version", "metadata", changeInfo({ codebase_version: "v2.1" })],
  ["no rate", "metadata", changeInfo({ fps: 0 })],
  ["no path", "metadata", changeInfo({ data_path: null })],
  ["no features", "metadata", changeInfo({ features: [] })],
  ["another rate", "timestamps,timestamps", changeInfo({ fps: 99 })],
  ["another total of rows", "counts", changeInfo({ total_frames: 61 })],
  ["another total of episodes", "counts", changeInfo({ total_episodes: 3 })],
  ["another total of tasks", "counts", changeInfo({ total_tasks: 1 })],
  ["a feature without a column", "columns", (at) => changeJson(at(info), addFeature)],
  ["a set without an index", "columns,columns", (at) => changeJson(at(info), dropIndex)],
  ["a column of no feature", "columns", (at) => rewrite(at(DATA), (rows) => rows.map((row) => ({ ...row, more: 1 })))],
  ["no data", "files", (at) => rmSync(at(DATA))],
  ["data that is cut", "files", (at) => truncateSync(at(DATA), 900)],
  ["data of another set", "files", (at) => copyFileSync(at(DATA), at(DATA.replace("000.p", "001.p")))],
  ["rows in another file", "files,files", (at) => rewrite(at(EPISODES), put(1, "data/file_index", 1n))],
  ["no video", "files", addVideo],
  ["no episodes", "files", (at) => rmSync(at(EPISODES))],
  ["episodes without a column", "metadata", (at) => rewrite(at(EPISODES), (rows) => rows.map(dropLength))],
  ["an episode that says it is longer", "lengths,lengths", (at) => rewrite(at(EPISODES), put(1, "length", 31n))],
  ["an episode with another number", "episodes", (at) => rewrite(at(EPISODES), put(1, "episode_index", 2n))],
  ["an episode elsewhere", "episodes,episodes", (at) => rewrite(at(EPISODES), shiftSecond)],
  ["no tasks", "files", (at) => rmSync(at(TASKS))],
  ["tasks without their texts", "tasks", (at) => rewrite(at(TASKS), (rows) => rows)],
  ["tasks without their numbers", "metadata", (at) => rewrite(at(TASKS), (rows) => rows.map(() => ({ other: 1n })))],
  ["tasks in another order", "tasks,tasks", (at) => rewrite(at(TASKS), put(0, "task_index", 1n))],
  ["a row less", "counts,lengths", (at) => rewrite(at(DATA), (rows) => rows.slice(0, -1))],
  ["an index twice", "index", (at) => rewrite(at(DATA), put(9, "index", 8n))],
  ["frames that go on", "frames", (at) => rewrite(at(DATA), continueFrames)],
  ["a time that is late", "timestamps", (at) => rewrite(at(DATA), put(9, "timestamp", 0.0902))],
  ["a row of no episode", "episodes,frames,lengths", (at) => rewrite(at(DATA), put(2 * ROWS - 1, "episode_index", 2n))],
];

function dropIndex({ features, ...is }: Record<string, unknown>): object {
  const { index: _, ...rest } = features as Record<string, unknown>;
  return { ...is, features: rest };
}

async function addVideo(at: (path: string) => string): Promise<void> {
  const path = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4";
  const video = { "observation.images.front": { dtype: "video", shape: [8, 8, 3], names: null } };
  changeJson(at(info), (is) => ({ ...is, video_path: path, features: { ...video, ...(is.features as object) } }));
  const place = Object.fromEntries(
    ["chunk", "file"].map((kind) => [`videos/${Object.keys(video)[0]}/${kind}_index`, 0n]),
  );
  await rewrite(at(EPISODES), (rows) => rows.map((row) => ({ ...row, ...place })));
}

function addFeature(is: Record<string, unknown>): object {
  return { ...is, features: { ...(is.features as object), action: { dtype: "float32", shape: [1], names: null } } };
}

function shiftSecond(rows: Rows): Rows {
  const [from, to] = [put(1, "dataset_from_index", 31n), put(1, "dataset_to_index", 61n)];
  return to(from(rows));
}

function dropLength({ length: _, ...row }: Record<string, unknown>): Record<string, unknown> {
  return row;
}

function continueFrames(rows: Rows): Rows {
  return rows.map((row) => ({ ...row, frame_index: row.index, timestamp: Number(row.index) / 100 }));
}

for (const [name, checks, destroy] of broken)
  test(`a broken set is found by name: ${name}`, async () => {
    const folder = await makeSet();
    await destroy((path) => join(folder, path));
    const { failure, printed } = await check(folder);
    const errors = (JSON.parse(printed) as Finding[]).filter(({ severity }) => severity === "error");
    assert.equal(
      errors
        .map((one) => one.check)
        .sort()
        .join(),
      checks,
      printed,
    );
    assert.match(String(failure), /is not a whole set/);
  });

test("a set without its statistics is warned of, and is whole", async () => {
  const folder = await makeSet();
  const warning = { check: "statistics", severity: "warning" };
  writeFileSync(
    join(folder, "meta/stats.json"),
    '{"state":{},"timestamp":{},"frame_index":{},"episode_index":{},"index":{}}',
  );
  const lacking = { ...warning, text: "meta/stats.json has none of task_index" };
  assert.deepEqual(JSON.parse((await check(folder)).printed), [lacking]);
  rmSync(join(folder, "meta/stats.json"));
  const { failure, printed } = await check(folder);
  assert.equal(failure, undefined);
  assert.deepEqual(JSON.parse(printed), [{ ...warning, text: "meta/stats.json is missing" }]);
});
