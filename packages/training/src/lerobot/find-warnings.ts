// Rows that are whole can still teach a wrong thing: an arm that was switched off, a joint at its limit, a value that was misread.

import type { Warning } from "../report/describe-episode.ts";
import type { SetColumn } from "./set-columns.ts";

/** An arm that rests at its limit has fewer runs of rows there. */
const CLIPPED = { share: 0.2, runs: 3 };
/** In standard deviations of the values. */
const JUMP = 5;
/** A gripper or a button with so few values jumps, and stops, all the time. */
const FEW_VALUES = 3;
const MOST_WARNINGS = 10;

/** Looks at the numbers of each feature in all pieces of an episode, whose columns follow each other. Returns the first warnings. */
export function findWarnings(columns: readonly SetColumn[]): Warning[] {
  const byName = Map.groupBy(columns, ({ name }) => name);
  return [...byName.values()].flatMap(warningsOf).slice(0, MOST_WARNINGS);
}

/** Texts and truths have no warnings. */
function warningsOf(pieces: readonly SetColumn[]): Warning[] {
  const { name, dtype, width, names } = pieces[0]!;
  const numbers = pieces.flatMap(({ cells }) => (Array.isArray(cells) ? [] : [cells]));
  if (numbers.length === 0 || dtype === "bool") return [];
  const rowCount = numbers.reduce((sum, cells) => sum + cells.length / width, 0);
  const places = Array.from({ length: width }, (_, place) => place);
  const looked = places.map((place) => lookAt(place, { pieces: numbers, width }));
  const of = (place: number) => (width === 1 ? name : `${name}, ${names[place] ?? place}`);
  if (rowCount > 1 && looked.every(({ count, least, most }) => count === rowCount && least === most)) {
    const text = `${name} has the same values in all ${rowCount} rows`;
    return [{ check: "frozen", feature: name, text }];
  }
  const warnings: Warning[] = [];
  const say = (check: Warning["check"], found: readonly number[], describe: (place: number) => string) => {
    const [first] = found;
    if (first === undefined) return;
    const others = found.length > 1 ? `; it is so with ${found.length - 1} more of its values` : "";
    warnings.push({ check, feature: name, text: `${of(first)} ${describe(first)}${others}` });
  };
  const various = places.filter((place) => looked[place]!.isVarious);
  const clipped = various.filter((place) => looked[place]!.limit !== undefined);
  say("clipped", clipped, (place) => {
    const { value, rows } = looked[place]!.limit!;
    return `stops at ${show(value)} again and again, in ${rows} of ${rowCount} rows`;
  });
  const jumping = various.filter((place) => looked[place]!.step.by > JUMP * looked[place]!.std);
  say("jump", jumping, (place) => {
    const { row, from, to } = looked[place]!.step;
    return `jumps from ${show(from)} to ${show(to)} in row ${row}`;
  });
  return warnings;
}

function show(value: number): string {
  return String(Number(value.toPrecision(6)));
}

interface Looked {
  /** How many values are finite; the others count in none of the following. */
  readonly count: number;
  readonly least: number;
  readonly most: number;
  readonly std: number;
  /** It has more than a few different values. */
  readonly isVarious: boolean;
  /** The greatest step from one row to the next one, which is `row`. */
  readonly step: { readonly by: number; readonly row: number; readonly from: number; readonly to: number };
  /** The least or greatest value, if many rows have it in several runs. */
  readonly limit: { readonly value: number; readonly rows: number } | undefined;
}

type Numbers = Exclude<SetColumn["cells"], string[]>;

interface Pieces {
  readonly pieces: readonly Numbers[];
  readonly width: number;
}

/** Looks at one value of each row. Those that are not finite are passed over, and from one piece to the next there is no step. */
function lookAt(place: number, { pieces, width }: Pieces): Looked {
  let [least, most, count, mean, squares, row] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 0, 0, 0];
  let step = { by: 0, row: 0, from: 0, to: 0 };
  const few = new Set<number>();
  for (const cells of pieces) {
    let last = Number.NaN;
    for (let at = place; at < cells.length; at += width, row += 1) {
      const value = Number(cells[at]);
      if (!Number.isFinite(value)) continue;
      [least, most, count] = [Math.min(least, value), Math.max(most, value), count + 1];
      if (few.size <= FEW_VALUES) few.add(value);
      const off = value - mean;
      mean += off / count;
      squares += off * (value - mean);
      if (Math.abs(value - last) > step.by) step = { by: Math.abs(value - last), row, from: last, to: value };
      last = value;
    }
  }
  const limits = [most, least].map((value) => ({ value, ...countAt(value, place, { pieces, width }) }));
  const limit = limits.find(({ rows, runs }) => runs >= CLIPPED.runs && rows >= CLIPPED.share * count);
  const std = Math.sqrt(squares / Math.max(1, count));
  return { count, least, most, std, isVarious: few.size > FEW_VALUES, step, limit };
}

function countAt(value: number, place: number, { pieces, width }: Pieces): { rows: number; runs: number } {
  let [rows, runs] = [0, 0];
  for (const cells of pieces) {
    let wasAt = false;
    for (let at = place; at < cells.length; at += width) {
      const isAt = Number(cells[at]) === value;
      if (isAt) rows += 1;
      if (isAt && !wasAt) runs += 1;
      wasAt = isAt;
    }
  }
  return { rows, runs };
}
