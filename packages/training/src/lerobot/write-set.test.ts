import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { TrainingMapping } from "@downlink/protocol";
import { parquetMetadata, parquetReadObjects } from "hyparquet";
import jpeg from "jpeg-js";
import type { Episode } from "../episodes/episode.ts";
import { type MadeMessage, makeEpisode } from "../testing/make-episode.ts";
import { MemoryFiles } from "../testing/memory-files.ts";
import { writeLeRobotSet } from "./write-set.ts";

const START_NS = 1_767_323_045_000_000_001n;
const MS = 1_000_000n;

const pictures = Array.from({ length: 4 }, (_, level) => {
  const rgba = Buffer.alloc(16 * 8 * 4, 60 * level);
  return jpeg.encode({ data: rgba, width: 16, height: 8 }, 90).data;
});

function robotEpisode(id: string, startNs: bigint, rest: Partial<Episode> = {}): Episode {
  const joints = Array.from({ length: 60 }, (_, index): MadeMessage => {
    const stamp = {
      sec: Number((startNs + 5n * MS) / 1_000_000_000n),
      nanosec: Number((startNs + 5n * MS) % 1_000_000_000n),
    };
    stamp.nanosec += index * 10_000_000;
    const position = [index, -index];
    return {
      topic: "/joints",
      atNs: startNs + BigInt(index) * 10n * MS,
      value: { header: { stamp }, name: ["b", "a"], position },
    };
  });
  const camera = Array.from({ length: 18 }, (_, index): MadeMessage => {
    const data = pictures[index % pictures.length]!.toString("base64");
    return { topic: "/cam", atNs: startNs + BigInt(index) * 33n * MS, value: { format: "jpeg", data } };
  });
  const talk = { topic: "/talk", atNs: startNs, value: { data: "lift the cup", count: 3, on: true } };
  return makeEpisode({ id, messages: [...joints, ...camera, talk], metadata: { task: id }, ...rest });
}

const joints = { topic: "/joints", field: "position" };
const base = {
  fps: 30,
  minFrames: 1,
  features: {
    "observation.state": { dtype: "float32", parts: [{ ...joints, byName: { names: "name", select: ["a", "b"] } }] },
    action: { dtype: "float64", shiftRows: 1, parts: [{ ...joints, select: [0] }] },
    "observation.images.front": { dtype: "image", parts: [{ topic: "/cam" }] },
  },
};

async function write(mapping: object, episodes: readonly Episode[]): Promise<MemoryFiles> {
  const files = new MemoryFiles();
  await writeLeRobotSet({ mapping: TrainingMapping.parse(mapping), episodes, about: { version: 1 }, open: files.open });
  return files;
}

const later = START_NS + 10_000_000_000n;
const two = () => [robotEpisode("epi_1", START_NS), robotEpisode("epi_2", later)];

async function readRows(files: MemoryFiles, path = "data/chunk-000/file-000.parquet") {
  return parquetReadObjects({ file: new Uint8Array(files.read(path)).buffer, utf8: false });
}

test("a set has the layout of LeRobot, and the same input gives the same bytes", async () => {
  const files = await write(base, two());
  assert.deepEqual(files.paths, [
    "data/chunk-000/file-000.parquet",
    "downlink.json",
    "meta/episodes/chunk-000/file-000.parquet",
    "meta/info.json",
    "meta/stats.json",
    "meta/tasks.parquet",
  ]);
  const again = await write(base, two());
  for (const path of files.paths) assert.ok(files.read(path).equals(again.read(path)), path);
  const sum = createHash("sha256");
  for (const path of files.paths) sum.update(files.read(path));
  // Where this changes, LEROBOT_WRITER_VERSION is raised.
  assert.equal(sum.digest("hex"), "5fa22494165f06ea1b4c58e7531995b23d967d9b3d32815cdae231f164ec8cfa");
});

test("rows, numbers of rows and episodes, tasks and times are those that the reader expects", async () => {
  const files = await write(base, two());
  const info = JSON.parse(files.read("meta/info.json").toString());
  assert.deepEqual(info.features["observation.state"], { dtype: "float32", shape: [2], names: ["a", "b"] });
  assert.deepEqual(info.features["observation.images.front"].shape, [8, 16, 3]);
  const rows = await readRows(files);
  assert.equal(rows.length, info.total_frames);
  assert.deepEqual([info.total_episodes, info.total_tasks, info.splits], [2, 2, { train: "0:2" }]);
  for (const [index, row] of rows.entries()) {
    const perEpisode = rows.length / 2;
    const frame = index % perEpisode;
    assert.equal(row.index, BigInt(index));
    assert.equal(row.frame_index, BigInt(frame));
    assert.equal(row.episode_index, BigInt(Math.floor(index / perEpisode)));
    assert.equal(row.task_index, row.episode_index);
    assert.equal(row.timestamp, Math.fround(frame / 30));
    const held = Math.floor((frame * 1000) / 30 / 10);
    assert.deepEqual(row["observation.state"], [0 - held, held]);
    assert.equal(row.action, Math.floor(((frame + 1) * 1000) / 30 / 10));
  }
  const episodes = await readRows(files, "meta/episodes/chunk-000/file-000.parquet");
  assert.deepEqual(
    episodes.map((row) => [row.length, row.dataset_from_index, row.dataset_to_index]),
    [17n, 17n].map((length, episode) => [length, length * BigInt(episode), length * BigInt(episode + 1)]),
  );
  const { key_value_metadata: facts } = parquetMetadata(new Uint8Array(files.read("meta/tasks.parquet")).buffer);
  assert.deepEqual(JSON.parse(facts![0]!.value!).index_columns, ["task"]);
});

test("the bytes of pictures are those of the recording", async () => {
  const rows = await readRows(await write(base, two()));
  for (const [index, row] of rows.entries()) {
    const at = ((index % (rows.length / 2)) * 1000) / 30;
    const { bytes } = row["observation.images.front"] as { bytes: Uint8Array };
    assert.ok(pictures[Math.floor(at / 33) % pictures.length]!.equals(bytes), `row ${index}`);
  }
});

test("pictures are shifted like numbers", async () => {
  const camera = { ...base.features["observation.images.front"], shiftRows: 1 };
  const files = await write({ fps: 10, minFrames: 1, features: { camera } }, [robotEpisode("epi_1", START_NS)]);
  for (const [row, { camera: shown }] of (await readRows(files)).entries()) {
    const frame = Math.floor(((row + 1) * 100) / 33);
    assert.ok(pictures[frame % pictures.length]!.equals((shown as { bytes: Uint8Array }).bytes), `row ${row}`);
  }
});

test("statistics are those of the values; of pictures they are from 0 to 1, by channel", async () => {
  const files = await write({ ...base, features: { ...base.features, one: base.features.action } }, two());
  const stats = JSON.parse(files.read("meta/stats.json").toString());
  const values = (await readRows(files)).map(({ action }) => action as number);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  assert.ok(Math.abs(stats.action.mean[0] - mean) < 1e-9);
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  assert.ok(Math.abs(stats.action.std[0] - Math.sqrt(variance)) < 1e-9);
  assert.deepEqual([stats.action.min, stats.action.max], [[Math.min(...values)], [Math.max(...values)]]);
  assert.deepEqual(stats.action.count, [values.length]);
  const { max, min, count } = stats["observation.images.front"];
  assert.deepEqual(count, [20]);
  assert.deepEqual(min, [[[0]], [[0]], [[0]]]);
  for (const [[level]] of max) assert.ok(Math.abs(level - 180 / 255) < 0.02);
});

test("times of headers, whole numbers, truths, texts and tasks of a topic are read", async () => {
  const mapping = {
    fps: 10,
    minFrames: 1,
    maxGapMs: 1000,
    task: { topic: "/talk", field: "data" },
    features: {
      state: { dtype: "float32", parts: [{ ...joints, select: [0], stamp: "header" }] },
      count: { dtype: "int64", parts: [{ topic: "/talk", field: "count" }] },
      on: { dtype: "bool", parts: [{ topic: "/talk", field: "on" }] },
      text: { dtype: "string", parts: [{ topic: "/talk", field: "data" }] },
    },
  };
  const files = await write(mapping, [robotEpisode("epi_1", START_NS)]);
  const rows = await parquetReadObjects({ file: new Uint8Array(files.read("data/chunk-000/file-000.parquet")).buffer });
  assert.deepEqual(
    rows.map(({ state, count, on, text }) => [state, count, on, text]),
    Array.from({ length: 6 }, (_, row) => [row * 10, 3n, true, "lift the cup"]),
  );
  const [task] = await parquetReadObjects({ file: new Uint8Array(files.read("meta/tasks.parquet")).buffer });
  assert.deepEqual(task, { task_index: 0n, task: "lift the cup" });
});

test("where the clock jumps an episode is refused, left out or split, as the mapping says", async () => {
  const at = [0, 100, 200, 900, 1000, 1100].map((ms) => START_NS + BigInt(ms) * MS);
  const messages = at.flatMap((atNs, index) => [
    { topic: "/tick", atNs, value: {} },
    { topic: "/slow", atNs, value: [index] },
  ]);
  const parts = [{ topic: "/slow", align: "nearest" }];
  const features = { clock: { dtype: "float64", parts } };
  const mapping = { fps: 10, minFrames: 1, maxGapMs: 10_000, clock: { topic: "/tick" }, features };
  const episode = makeEpisode({ messages, endNs: at[5]! });
  await assert.rejects(write(mapping, [episode]), /it has 1 gaps inside, where the clock jumps/);
  await assert.rejects(write({ ...mapping, onGap: "dropEpisode" }, [episode]), /no episode has rows/);
  const rows = await readRows(await write({ ...mapping, onGap: "splitEpisode" }, [episode]));
  assert.deepEqual(
    rows.map(({ episode_index, clock }) => [episode_index, clock]),
    [0, 1, 2, 3, 4, 5].map((index) => [BigInt(Math.floor(index / 3)), index]),
  );
});

test("a number keeps its sign, also where it is 0", async () => {
  const messages = [0, 1, 2, 3].map((index) => ({
    topic: "/n",
    atNs: START_NS + BigInt(index) * 10n * MS,
    value: [0],
  }));
  const made = makeEpisode({ messages });
  let count = 0;
  const episode: Episode = {
    ...made,
    async *read(...window) {
      for await (const message of made.read(...window))
        yield { ...message, data: Buffer.from(count++ % 2 === 0 ? "[0]" : "[-0]") };
    },
  };
  const rows = await readRows(
    await write({ fps: 100, minFrames: 1, features: { n: { dtype: "float64", parts: [{ topic: "/n" }] } } }, [episode]),
  );
  for (const [row, { n }] of rows.entries()) assert.ok(Object.is(n, row % 2 === 0 ? 0 : -0), `row ${row}`);
});

test("a rotation is interpolated on the shorter arc", async () => {
  const angle = Math.PI / 2;
  const end = [0, 0, -Math.sin(angle / 2), Math.cos(angle / 2)];
  for (const sign of [1, -1]) await checkTurn([[0, 0, 0, 1], end.map((value) => sign * value)], angle);
});

/** The quaternion with the other sign is the same rotation. */
async function checkTurn(turns: readonly number[][], angle: number): Promise<void> {
  const messages = turns.map((value, index) => ({ topic: "/turn", atNs: START_NS + BigInt(index) * 90n * MS, value }));
  const parts = [{ topic: "/turn", align: "interpolate", quaternion: "xyzw" }];
  const mapping = { fps: 100, minFrames: 1, features: { turn: { dtype: "float64", parts } } };
  const rows = await readRows(await write(mapping, [makeEpisode({ messages })]));
  for (const [row, { turn }] of rows.entries()) {
    const half = (-angle / 2) * (row / 9);
    const [, , z, w] = turn as number[];
    assert.ok(Math.abs(Math.abs(z! * Math.sin(half) + w! * Math.cos(half)) - 1) < 1e-9, `row ${row}`);
  }
}

const refusals: [string, object, RegExp][] = [
  ["a task that is not there", { ...base, task: { metadata: "other" } }, /has no text other in its metadata/],
  ["a topic that is not there", featureOf({ topic: "/none" }), /it has no message of \/none for x/],
  ["a field that is not there", featureOf({ ...joints, field: "speed" }), /the first has no field speed/],
  ["a name that is not there", featureOf({ ...joints, byName: { names: "name", select: ["c"] } }), /has no c in name/],
  ["texts as numbers", featureOf({ topic: "/talk", field: "data" }), /has a text, which is no value of the dtype/],
  ["no time", featureOf({ topic: "/talk", field: "count", stamp: "header" }), /\/talk have no time in header/],
  ["a clock of another rate", { ...base, clock: { topic: "/cam" }, fps: 20 }, /messages a second, and fps is 20/],
  ["a picture that is none", imageOf({ topic: "/talk" }), /no message of \/talk has a value for x/],
];

function featureOf(part: object): object {
  return { fps: 30, minFrames: 1, features: { x: { dtype: "float32", parts: [part] } } };
}

function imageOf(part: object): object {
  return { fps: 30, minFrames: 1, features: { x: { dtype: "image", parts: [part] } } };
}

for (const [name, mapping, sentence] of refusals)
  test(`refused with a sentence: ${name}`, async () => {
    await assert.rejects(write(mapping, two()), { name: "TrainingError", message: sentence });
  });

test("what is no number is refused unless it is allowed", async () => {
  const messages = [0, 1, 2].map((index) => ({
    topic: "/n",
    atNs: START_NS + BigInt(index) * 10n * MS,
    value: [index],
  }));
  const decodable = makeEpisode({ messages });
  const episode: Episode = {
    ...decodable,
    async *read(...window) {
      for await (const message of decodable.read(...window)) yield { ...message, data: Buffer.from("[1e999]") };
    },
  };
  const feature = { dtype: "float32", parts: [{ topic: "/n" }] };
  const mapping = { fps: 100, minFrames: 1, features: { x: feature } };
  await assert.rejects(
    write(mapping, [episode]),
    /x has 3 values that are no finite numbers, the first in row 0; allow/,
  );
  const allowed = await write({ ...mapping, features: { x: { ...feature, allowNaN: true } } }, [episode]);
  assert.equal((await readRows(allowed)).length, 3);
});
