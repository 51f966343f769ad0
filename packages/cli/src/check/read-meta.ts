import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Say } from "./finding.ts";
import { openTable, type Table, TableError } from "./open-table.ts";
import { readJson, type SetInfo } from "./read-info.ts";

/** An episode as `meta/episodes` has it. */
export interface SetEpisode {
  /** The rows of the set that are its own. */
  readonly from: number;
  readonly to: number;
  readonly length: number;
  /** The path of the file with its rows. */
  readonly data: string;
  /** The paths of its videos. */
  readonly videos: readonly string[];
}

/** Returns the paths of `FOLDER/*\/*.parquet`, which readers load all. */
export async function listTables(folder: string, inside: string): Promise<string[]> {
  const found = await readdir(join(folder, inside), { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
    return [];
  });
  return found
    .filter((path) => /^[^/]+\/[^/]+\.parquet$/.test(path))
    .map((path) => `${inside}/${path}`)
    .sort();
}

/** Reads the table at a path in the set; undefined where it cannot be read, which is a finding. */
export async function tryTable<T>(path: string, say: Say, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
    say("files", `${path} ${error.message}`);
  }
}

/** Returns undefined where they cannot be read, so that no rows can be checked. */
export async function readEpisodes(folder: string, info: SetInfo, say: Say): Promise<SetEpisode[] | undefined> {
  const paths = await listTables(folder, "meta/episodes");
  if (paths.length === 0) return void say("files", "meta/episodes has no file");
  const episodes: SetEpisode[] = [];
  for (const path of paths) {
    const read = await tryTable(path, say, async () => readPart(await openTable(join(folder, path)), info));
    if (!read) return undefined;
    if ("lacks" in read) return void say("metadata", `${path} has no column ${read.lacks}`);
    for (const { number, ...episode } of read.episodes) {
      checkOrder({ number, place: episodes.length, before: episodes.at(-1)?.to ?? 0 }, episode, say);
      episodes.push(episode);
    }
  }
  if (info.totals.episodes !== episodes.length)
    say("counts", `meta/info.json says ${info.totals.episodes} episodes, and meta/episodes has ${episodes.length}`);
  return episodes;
}

interface Place {
  readonly number: number;
  readonly place: number;
  readonly before: number;
}

function checkOrder({ number, place, before }: Place, { from, to, length }: SetEpisode, say: Say): void {
  const more = { episode: place };
  if (number !== place) say("episodes", `the episode ${place} of meta/episodes has the number ${number}`, more);
  if (from !== before) say("episodes", `it begins at the row ${from}, and the one before ends at ${before}`, more);
  if (to - from !== length)
    say("lengths", `it is of the rows ${from} to ${to}, and says that they are ${length}`, more);
}

type Part = { lacks: string } | { episodes: (SetEpisode & { number: number })[] };

const placed = ["data/chunk_index", "data/file_index"] as const;
const ranged = ["episode_index", "length", "dataset_from_index", "dataset_to_index"] as const;

async function readPart(table: Table, info: SetInfo): Promise<Part> {
  const cameras = Object.keys(info.features).filter((name) => info.features[name]!.dtype === "video");
  const videoColumns = cameras.map((key) => [`videos/${key}/chunk_index`, `videos/${key}/file_index`] as const);
  const wanted = [...ranged, ...placed, ...videoColumns.flat()];
  const lacks = wanted.find((name) => !table.columns.has(name));
  if (lacks !== undefined) return { lacks };
  const rows = await table.read<string>(wanted);
  const episodes = rows.map((row) => ({
    number: row.episode_index!,
    from: row.dataset_from_index!,
    to: row.dataset_to_index!,
    length: row.length!,
    data: info.dataPath(row[placed[0]]!, row[placed[1]]!),
    videos: videoColumns.map(([chunk, file], camera) => info.videoPath(cameras[camera]!, row[chunk]!, row[file]!)),
  }));
  return { episodes };
}

const TASKS = "meta/tasks.parquet";

/** Returns how many tasks there are. A reader finds the text of one by its place, in the index of the table. */
export async function readTasks(folder: string, info: SetInfo, say: Say): Promise<number> {
  const count = await tryTable(TASKS, say, async () => {
    const table = await openTable(join(folder, TASKS));
    if (!table.columns.has("task_index")) return void say("metadata", `${TASKS} has no column task_index`);
    const numbers = await table.read(["task_index"]);
    if (!numbers.every(({ task_index: number }, place) => number === place))
      say("tasks", `${TASKS} does not number its tasks from 0 to ${numbers.length - 1}, in this order`);
    if (!hasTextIndex(table)) say("tasks", `${TASKS} does not name the texts of its tasks as the index of the table`);
    if (info.totals.tasks !== numbers.length)
      say("counts", `meta/info.json says ${info.totals.tasks} tasks, and ${TASKS} has ${numbers.length}`);
    return numbers.length;
  });
  return count ?? Number.POSITIVE_INFINITY;
}

/** source: pandas, Storing pandas DataFrame objects in Apache Parquet format */
function hasTextIndex({ facts, columns }: Table): boolean {
  const [, name] = /"index_columns": ?\["([^"]+)"\]/.exec(facts.get("pandas") ?? "") ?? [];
  return name !== undefined && columns.has(name);
}

/** Readers normalize by them. */
export async function checkStatistics(folder: string, { features }: SetInfo, say: Say): Promise<void> {
  const statistics = await readJson(folder, "meta/stats.json", (_check, text) =>
    say("statistics", text, { severity: "warning" }),
  );
  if (!statistics) return;
  for (const [name, { dtype }] of Object.entries(features))
    if (dtype !== "string" && !statistics[name])
      say("statistics", `meta/stats.json has none of ${name}`, { severity: "warning" });
}
