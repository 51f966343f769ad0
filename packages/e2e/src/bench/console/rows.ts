import { cpus, loadavg } from "node:os";
import { makeTable } from "../../terminal/make-table.ts";
import { say } from "../report.ts";

/** One line of the table. */
export interface Row {
  readonly what: string;
  readonly measured: string;
  readonly budget: string;
  readonly isWithin: boolean;
  /** Whether the run fails if the budget is missed. A time fails no run, because it depends on the machine. */
  readonly isGate: boolean;
}

interface Figure {
  readonly what: string;
  readonly value: number;
  /** The budget: the value may be this much. */
  readonly most: number;
  /** A note that says what the value is made of. */
  readonly note?: string;
}

export function countRow({ what, value, most, note }: Figure): Row {
  const rounded = Math.round(value * 100) / 100;
  return {
    what,
    measured: withNote(String(rounded), note),
    budget: `≤ ${most}`,
    isWithin: value <= most,
    isGate: true,
  };
}

export function sizeRow({ what, value, most, note }: Figure): Row {
  const [measured, budget] = [toKilobytes(value), `≤ ${most / 1000} kB`];
  return { what, measured: withNote(measured, note), budget, isWithin: value <= most, isGate: true };
}

export function heapRow({ what, value, most, note }: Figure): Row {
  const [measured, budget] = [`${(value / 1e6).toFixed(1)} MB`, `≤ ${most / 1e6} MB`];
  return { what, measured: withNote(measured, note), budget, isWithin: value <= most, isGate: true };
}

export function timeRow({ what, value, most, note }: Figure): Row {
  const [measured, budget] = [`${value.toFixed(1)} ms`, `≤ ${most} ms`];
  return { what, measured: withNote(measured, note), budget, isWithin: value <= most, isGate: false };
}

export function toKilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}

/** Prints all rows, and returns whether the sizes and the counts are within their budgets. */
export function reportRows(rows: readonly Row[]): boolean {
  const table = makeTable(["measured", "", "budget", "ok"]);
  for (const { what, measured, budget, isWithin, isGate } of rows)
    table.push([what, measured, budget, wordFor(isWithin, isGate)]);
  say(table.toString());
  const [load] = loadavg();
  say(`on ${cpus().length} × ${cpus()[0]?.model}, ${load!.toFixed(1)} programs running beside each other at the end`);
  return rows.every(({ isWithin, isGate }) => isWithin || !isGate);
}

function wordFor(isWithin: boolean, isGate: boolean): string {
  if (isWithin) return "yes";
  return isGate ? "NO" : "no, printed only";
}

function withNote(text: string, note: string | undefined): string {
  return note ? `${text}\n${note}` : text;
}
