import { join } from "node:path";
import type { Say } from "./finding.ts";
import { openTable, type Table } from "./open-table.ts";
import { ownFeatures, type SetInfo } from "./read-info.ts";
import { type SetEpisode, tryTable } from "./read-meta.ts";

/** A reader refuses times that differ by more. source: lerobot, tolerance_s */
const TOLERANCE_SECONDS = 1e-4;

interface CheckedSet {
  readonly folder: string;
  readonly info: SetInfo;
  readonly episodes: readonly SetEpisode[];
  readonly taskCount: number;
}

type Row = Record<(typeof ownFeatures)[number], number>;

/** Checks the rows of all files, in the order of their paths, in which readers join them. Returns how many there are. */
export async function checkRows(set: CheckedSet, say: Say): Promise<number> {
  const { folder, info, episodes } = set;
  const rows = followRows(set, sayOnce(say));
  let isWhole = true;
  for (const path of [...new Set(episodes.map(({ data }) => data))].sort()) {
    const isRead = await tryTable(path, say, async () => {
      const table = await openTable(join(folder, path));
      if (!checkColumns(table, path, { info, say })) return false;
      let from = 0;
      for (const count of table.groups) {
        for (const row of await table.read(ownFeatures, from, from + count)) rows.add(path, row);
        from += count;
      }
      return true;
    });
    isWhole &&= isRead === true;
  }
  const { count, lengths } = rows;
  if (!isWhole) return count();
  for (const [episode, { length }] of episodes.entries()) {
    const found = lengths.get(episode) ?? 0;
    if (found !== length) say("lengths", `it has ${found} rows, and meta/episodes says ${length}`, { episode });
  }
  if (info.totals.frames !== count())
    say("counts", `meta/info.json says ${info.totals.frames} frames, and there are ${count()} rows`);
  return count();
}

/** Returns false where the rows cannot be checked. */
function checkColumns({ columns }: Table, path: string, { info, say }: { info: SetInfo; say: Say }): boolean {
  const wanted = Object.keys(info.features).filter((name) => info.features[name]!.dtype !== "video");
  for (const name of wanted) if (!columns.has(name)) say("columns", `${path} has no column of the feature ${name}`);
  for (const name of columns)
    if (!wanted.includes(name)) say("columns", `${path} has a column ${name}, which is no feature with rows`);
  return ownFeatures.every((name) => columns.has(name));
}

/** Says of each episode once what is wrong in the same way with many of its rows. */
function sayOnce(say: Say): Say {
  const said = new Set<string>();
  return (check, text, more) => {
    const key = `${check} ${more?.episode}`;
    if (!said.has(key)) say(check, text, more);
    said.add(key);
  };
}

function followRows({ info: { fps }, episodes, taskCount }: CheckedSet, say: Say) {
  const lengths = new Map<number, number>();
  let [row, next] = [0, 0];
  const checkPlace = (episode: number, path: string) => {
    const wanted = episodes[episode];
    if (!wanted) return say("episodes", "rows name it, and meta/episodes does not have it", { episode });
    if (wanted.data !== path) say("files", `it has rows in ${path}, and not in ${wanted.data} alone`, { episode });
    if (row < wanted.from || row >= wanted.to)
      say("episodes", `it has the row ${row}, and meta/episodes says ${wanted.from} to ${wanted.to}`, { episode });
  };
  const checkNumbers = ({ episode_index: episode, frame_index: frame, task_index: task, index, timestamp }: Row) => {
    const place = lengths.get(episode) ?? 0;
    if (index !== next) say("index", `the row after the index ${next - 1} has the index ${index}`, { episode });
    if (frame !== place) say("frames", `its row ${place} has the frame_index ${frame}`, { episode });
    const isInTime = Math.abs(timestamp - Math.fround(frame / fps)) <= TOLERANCE_SECONDS;
    if (!isInTime)
      say("timestamps", `its frame ${frame} is at ${timestamp} s, and not at ${frame / fps} s`, { episode });
    if (!(Number.isInteger(task) && task >= 0 && task < taskCount))
      say("tasks", `its row ${place} has the task ${task}, and there are ${taskCount}`, { episode });
    lengths.set(episode, place + 1);
    next = (Number.isInteger(index) ? index : next) + 1;
  };
  return {
    lengths,
    count: () => row,
    add(path: string, numbers: Row): void {
      checkPlace(numbers.episode_index, path);
      checkNumbers(numbers);
      row += 1;
    },
  };
}
