import type { z } from "zod";
import { encodeJson } from "../calls/answers/encode-json.ts";

interface Printing<T> {
  readonly json: boolean;
  readonly schema: z.ZodType<T>;
  /** Returns the line of one row for people. */
  describe(row: T): string;
  /** The line if there is no row. */
  readonly none: string;
}

/** Returns a line for each row: for programs the JSON that the API answers, for people a sentence. */
export function linesOf<T>(rows: readonly T[], { json, schema, describe, none }: Printing<T>): string[] {
  if (json) return rows.map((row) => encodeJson(schema, row));
  return rows.length === 0 ? [none] : rows.map(describe);
}

export function print(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
}

/** Returns a moment in UTC, to the second. */
export function toTime(ns: bigint): string {
  return new Date(Number(ns / 1_000_000n)).toISOString().replace(/\.\d+/, "");
}
