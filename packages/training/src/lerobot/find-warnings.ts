// Rows that are whole can still teach a wrong thing: an arm that was switched off, a joint at its limit, a value that was misread.

import type { Warning } from "../report/describe-episode.ts";
import type { SetColumn } from "./set-columns.ts";

/** An arm that rests at its limit has fewer runs of rows there. */
const CLIPPED = { share: 0.2, runs: 3 };
/** In standard deviations of the values. */
const JUMP = 5;

const MOST_WARNINGS = 10;

/** Looks at the numbers of columns of an episode. Returns the first warnings. */
export function findWarnings(columns: readonly SetColumn[]): Warning[] {
  return columns.flatMap(warningsOf).slice(0, MOST_WARNINGS);
}

/** Texts and truths have no warnings. */
function warningsOf({ name, dtype, width, names, cells }: SetColumn): Warning[] {
  if (Array.isArray(cells) || dtype === "bool" || cells.length === 0) return [];
  const places = Array.from({ length: width }, (_, place) => place);
  const looked = places.map((place) => lookAt(place, { cells, width }));
  const of = (place: number) => (width === 1 ? name : `${name}, ${names[place] ?? place}`);
  const rowCount = cells.length / width;
  if (looked.every(({ least, most }) => least === most)) {
    const text = `${name} has the same values in all ${rowCount} rows`;
    return rowCount > 1 ? [{ check: "frozen", feature: name, text }] : [];
  }
  const warnings: Warning[] = [];
  const say = (check: Warning["check"], found: readonly number[], describe: (place: number) => string) => {
    const [first] = found;
    if (first === undefined) return;
    const others = found.length > 1 ? `; it is so with ${found.length - 1} more of its values` : "";
    warnings.push({ check, feature: name, text: `${of(first)} ${describe(first)}${others}` });
  };
  const clipped = places.filter((place) => looked[place]!.limit !== undefined);
  say("clipped", clipped, (place) => {
    const { value, rows } = looked[place]!.limit!;
    return `stops at ${show(value)} again and again, in ${rows} of ${rowCount} rows`;
  });
  const jumping = places.filter((place) => looked[place]!.step.by > JUMP * looked[place]!.std);
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
  readonly least: number;
  readonly most: number;
  readonly std: number;
  /** The greatest step from one row to the next one, which is `row`. */
  readonly step: { readonly by: number; readonly row: number; readonly from: number; readonly to: number };
  /** The least or greatest value, if many rows have it in several runs. */
  readonly limit: { readonly value: number; readonly rows: number } | undefined;
}

type Numbers = Exclude<SetColumn["cells"], string[]>;

/** Looks at one value of each row. Those that are not finite are passed over. */
function lookAt(place: number, { cells, width }: { cells: Numbers; width: number }): Looked {
  let [least, most, count, mean, squares] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 0, 0];
  let step = { by: 0, row: 0, from: 0, to: 0 };
  let last = Number.NaN;
  for (let at = place; at < cells.length; at += width) {
    const value = Number(cells[at]);
    if (!Number.isFinite(value)) continue;
    [least, most, count] = [Math.min(least, value), Math.max(most, value), count + 1];
    const off = value - mean;
    mean += off / count;
    squares += off * (value - mean);
    if (Math.abs(value - last) > step.by)
      step = { by: Math.abs(value - last), row: (at - place) / width, from: last, to: value };
    last = value;
  }
  const limits = [most, least].map((value) => ({ value, ...countAt(value, place, { cells, width }) }));
  const limit = limits.find(({ rows, runs }) => runs >= CLIPPED.runs && rows >= CLIPPED.share * count);
  return { least, most, std: Math.sqrt(squares / count), step, limit };
}

function countAt(value: number, place: number, { cells, width }: { cells: Numbers; width: number }) {
  let [rows, runs, wasAt] = [0, 0, false];
  for (let at = place; at < cells.length; at += width) {
    const isAt = Number(cells[at]) === value;
    if (isAt) rows += 1;
    if (isAt && !wasAt) runs += 1;
    wasAt = isAt;
  }
  return { rows, runs };
}
