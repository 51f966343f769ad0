import type { SchemaElement } from "hyparquet";
import type { WholeMapping } from "../align/plan.ts";
import { type Column, type FileSink, listOf, ParquetFile, scalarOf, schemaOf } from "../parquet/parquet-file.ts";
import { writeJson } from "../report/set-options.ts";
import { CHUNK_FILES, DATA_FILE_MIB, type FilePlace } from "./data-files.ts";
import type { FeatureInfo } from "./features.ts";
import { type FeatureStats, joinStats, type QuantileName, quantiles } from "./stats.ts";

/** An episode of the set. */
export interface WrittenEpisode {
  readonly task: string;
  readonly file: FilePlace;
  /** The numbers of its first row and of the one behind its last, in the set. */
  readonly fromIndex: number;
  readonly toIndex: number;
  readonly stats: ReadonlyMap<string, FeatureStats>;
}

interface Meta {
  readonly mapping: WholeMapping;
  readonly features: Readonly<Record<string, FeatureInfo>>;
  readonly episodes: readonly WrittenEpisode[];
  /** By their numbers. */
  readonly tasks: readonly string[];
  readonly about: Readonly<Record<string, unknown>>;
}

type Open = (path: string) => FileSink;

/** Writes all files but those with the rows. */
export async function writeMeta(open: Open, meta: Meta): Promise<void> {
  await writeEpisodes(open, meta);
  await writeTasks(open, meta.tasks);
  await writeJson(open, "meta/info.json", infoOf(meta));
  await writeJson(open, "meta/stats.json", statsOf(meta));
  await writeJson(open, "downlink.json", meta.about);
}

const VIDEO_FILE_MIB = 200;

function infoOf({ mapping, features, episodes, tasks }: Meta) {
  return {
    codebase_version: "v3.0",
    fps: mapping.fps,
    features,
    total_episodes: episodes.length,
    total_frames: episodes.at(-1)!.toIndex,
    total_tasks: tasks.length,
    chunks_size: CHUNK_FILES,
    data_files_size_in_mb: DATA_FILE_MIB,
    video_files_size_in_mb: VIDEO_FILE_MIB,
    data_path: "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
    video_path: null,
    robot_type: mapping.robotType ?? null,
    splits: { train: `0:${episodes.length}` },
  };
}

function statsOf({ features, episodes }: Meta) {
  const names = Object.keys(features).filter((name) => episodes[0]!.stats.has(name));
  return Object.fromEntries(
    names.map((name) => {
      const joined = joinStats(episodes.map(({ stats }) => stats.get(name)!));
      return [name, Object.fromEntries(statNames.map((stat) => [stat, shapeStat(features[name]!, stat, joined)]))];
    }),
  );
}

const statNames = ["min", "max", "mean", "std", "count", ...(Object.keys(quantiles) as QuantileName[])] as const;
type StatName = (typeof statNames)[number];

/** Statistics of a picture have the shape 3 × 1 × 1. */
function shapeStat({ dtype }: FeatureInfo, name: StatName, stats: FeatureStats): unknown[] {
  if (name === "count") return [stats.count];
  const values = name in quantiles ? stats.q[name as QuantileName] : stats[name as "min"];
  return dtype === "image" ? values.map((value) => [[value]]) : [...values];
}

async function writeTasks(open: Open, tasks: readonly string[]): Promise<void> {
  const columns = [scalarOf("task_index", "INT64"), scalarOf("task", "BYTE_ARRAY", true)];
  const metadata = [{ key: "pandas", value: JSON.stringify(pandasFacts) }];
  const file = new ParquetFile(open("meta/tasks.parquet"), { schema: schemaOf(columns), metadata });
  const numbers = tasks.map((_, index) => BigInt(index));
  await file.writeGroup([
    { name: "task_index", data: numbers },
    { name: "task", data: [...tasks] },
  ]);
  await file.close();
}

/** It says that the tasks are the index of the table. source: pandas, Developer, Storing pandas DataFrame objects in Apache Parquet format */
const pandasFacts = {
  index_columns: ["task"],
  column_indexes: [
    { name: null, field_name: null, pandas_type: "unicode", numpy_type: "object", metadata: { encoding: "UTF-8" } },
  ],
  columns: [
    { name: "task_index", field_name: "task_index", pandas_type: "int64", numpy_type: "int64", metadata: null },
    { name: "task", field_name: "task", pandas_type: "unicode", numpy_type: "object", metadata: null },
  ],
  pandas_version: "2.3.0",
};

interface MetaColumn {
  readonly elements: SchemaElement[];
  readonly column: Column;
}

async function writeEpisodes(open: Open, { features, episodes }: Meta): Promise<void> {
  const whole = (name: string, read: (episode: WrittenEpisode, index: number) => number): MetaColumn => ({
    elements: scalarOf(name, "INT64"),
    column: { name, data: episodes.map((episode, index) => BigInt(read(episode, index))) },
  });
  const texts = listOf("tasks", scalarOf("element", "BYTE_ARRAY", true));
  const columns: MetaColumn[] = [
    whole("episode_index", (_, index) => index),
    { elements: texts, column: { name: "tasks", data: episodes.map(({ task }) => [task]) } },
    whole("length", ({ fromIndex, toIndex }) => toIndex - fromIndex),
    whole("data/chunk_index", ({ file }) => file.chunk),
    whole("data/file_index", ({ file }) => file.file),
    whole("dataset_from_index", ({ fromIndex }) => fromIndex),
    whole("dataset_to_index", ({ toIndex }) => toIndex),
    ...Object.entries(features).flatMap(([name, info]) => statsColumns(name, info, episodes)),
    whole("meta/episodes/chunk_index", () => 0),
    whole("meta/episodes/file_index", () => 0),
  ];
  const schema = schemaOf(columns.map(({ elements }) => elements));
  const file = new ParquetFile(open("meta/episodes/chunk-000/file-000.parquet"), { schema });
  await file.writeGroup(columns.map(({ column }) => column));
  await file.close();
}

function statsColumns(name: string, info: FeatureInfo, episodes: readonly WrittenEpisode[]): MetaColumn[] {
  if (!episodes[0]!.stats.has(name)) return [];
  return statNames.map((stat) => {
    const path = `stats/${name}/${stat}`;
    const element = scalarOf("element", stat === "count" ? "INT64" : "DOUBLE");
    const inner = info.dtype === "image" && stat !== "count" ? listOf("element", listOf("element", element)) : element;
    const values = episodes.map(({ stats }) => shapeStat(info, stat, stats.get(name)!));
    const data = stat === "count" ? values.map((counts) => counts.map((count) => BigInt(count as number))) : values;
    return { elements: listOf(path, inner), column: { name: path, data } };
  });
}
