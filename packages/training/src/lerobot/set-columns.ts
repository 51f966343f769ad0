import type { AlignedEpisode, Piece } from "../align/align-episode.ts";
import type { Plan } from "../align/plan.ts";
import type { Column } from "../align/read-values.ts";
import type { Cells } from "../align/to-cells.ts";
import { TrainingError } from "../episodes/episode.ts";
import { type FeatureStats, statsOf } from "./stats.ts";

/** A column of an episode of the set: `width` values a row, one row after the other. */
export interface SetColumn {
  readonly name: string;
  readonly dtype: string;
  readonly width: number;
  /** The names of the values of a row, where they have some. */
  readonly names: readonly string[];
  readonly cells: Float32Array | Cells;
}

/** Takes the rows of a piece out of a column of its episode. Throws {@link TrainingError} for values that its feature does not allow. */
export function cutColumn(
  { feature: { name, dtype, allowsNaN }, width, names, cells }: Column,
  { firstRow, rowCount }: Piece,
): SetColumn {
  const cut = cells.slice(firstRow * width, (firstRow + rowCount) * width);
  if (!allowsNaN && cut instanceof Float64Array) requireFinite(name, width, cut);
  return { name, dtype, width, names, cells: dtype === "float32" ? Float32Array.from(cut as Float64Array) : cut };
}

function requireFinite(name: string, width: number, cells: Float64Array): void {
  const first = cells.findIndex((value) => !Number.isFinite(value));
  if (first < 0) return;
  const count = cells.reduce((sum, value) => sum + Number(!Number.isFinite(value)), 0);
  const values = `${count} values that are no finite numbers, the first in row ${Math.floor(first / width)}`;
  throw new TrainingError(`the feature ${name} has ${values}; allowNaN lets them in`);
}

interface Place {
  readonly rowCount: number;
  readonly taskIndex: number;
  /** The number of its first row in the set. */
  readonly index: number;
  readonly episodeIndex: number;
}

/** Makes the columns that each set has. */
export function ownColumns(fps: number, { rowCount, taskIndex, index, episodeIndex }: Place): SetColumn[] {
  const whole = (name: string, read: (row: number) => number): SetColumn => {
    const cells = BigInt64Array.from({ length: rowCount }, (_, row) => BigInt(read(row)));
    return { name, dtype: "int64", width: 1, names: [], cells };
  };
  const timestamps = Float32Array.from({ length: rowCount }, (_, row) => row / fps);
  return [
    { name: "timestamp", dtype: "float32", width: 1, names: [], cells: timestamps },
    whole("frame_index", (row) => row),
    whole("episode_index", () => episodeIndex),
    whole("index", (row) => index + row),
    whole("task_index", () => taskIndex),
  ];
}

/** Texts have no statistics. */
export function statColumns(columns: readonly SetColumn[]): [string, FeatureStats][] {
  return columns.flatMap(({ name, width, cells }): [string, FeatureStats][] => {
    if (Array.isArray(cells)) return [];
    return [
      [name, statsOf({ cells: cells instanceof BigInt64Array ? Float64Array.from(cells, Number) : cells, width })],
    ];
  });
}

/** Returns the values of some rows as a Parquet writer takes them. */
export function toRows({ dtype, width, cells }: SetColumn, from: number, to: number): unknown[] {
  const read = dtype === "bool" ? (at: number) => cells[at] !== 0 : (at: number) => cells[at];
  return Array.from({ length: to - from }, (_, row) => {
    const at = (from + row) * width;
    return width === 1 ? read(at) : Array.from({ length: width }, (_value, column) => read(at + column));
  });
}

/** About how many bytes a piece takes, from what is known before its values are read. */
export function estimateBytes({ features }: Plan, { collected, matches }: AlignedEpisode, piece: Piece): number {
  let bytes = piece.rowCount * OWN_BYTES;
  for (const { dtype, shiftRows, parts } of features)
    for (const part of parts) {
      const { facts } = collected.series.get(part)!;
      if (dtype !== "image") bytes += piece.rowCount * (facts.shape[0] ?? 0) * VALUE_BYTES;
      else for (const place of rowsOf(matches.get(part)!.from, piece, shiftRows)) bytes += facts.pictureBytes[place]!;
    }
  return bytes;
}

const OWN_BYTES = 36;
const VALUE_BYTES = 8;

function rowsOf(places: Int32Array, { firstRow, rowCount }: Piece, shiftRows: number): Int32Array {
  return places.subarray(firstRow + shiftRows, firstRow + shiftRows + rowCount);
}

/** Throws {@link TrainingError} where the mapping finds no task. */
export function taskOf({ mapping: { task } }: Plan, { episode, collected }: AlignedEpisode): string {
  if ("text" in task) return task.text;
  if ("topic" in task) {
    if (collected.task !== undefined) return collected.task;
    throw new TrainingError(`the episode ${episode.id} has no text in ${task.field} of ${task.topic} for its task`);
  }
  const { metadata } = episode;
  const text = Object.hasOwn(metadata, task.metadata) ? metadata[task.metadata] : undefined;
  if (typeof text === "string") return text;
  throw new TrainingError(`the episode ${episode.id} has no text ${task.metadata} in its metadata for its task`);
}
