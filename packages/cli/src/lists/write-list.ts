import { fit } from "@downlink/terminal/fit";
import { harmlessJson, printable } from "@downlink/terminal/printable";
import { layOut } from "@downlink/terminal/table";
import type { Flags } from "../flags/read-filters.ts";
import { readWhole } from "../flags/whole-number.ts";
import type { Service } from "../login/open-service.ts";
import { fieldText, toCsv } from "./csv.ts";
import type { List, Listed } from "./list.ts";

const MOST = 1_000_000;

interface Ends {
  readonly output: NodeJS.WriteStream;
  readonly notes: NodeJS.WritableStream;
}

/** Prints what a list answers, in the format of the flags. Throws {@link UsageError}. */
export async function printList<Row>(service: Service, list: List<Row>, flags: Flags): Promise<void> {
  const limit = readWhole("--limit", String(flags.limit), { least: 1, most: MOST });
  const listed = await list(service, flags, limit);
  writeList(listed, flags.json === true ? "json" : String(flags.output), {
    output: process.stdout,
    notes: process.stderr,
  });
}

/** Writes a list as a table, as JSON or as CSV. A note says if there is more; a table has it below, where people look. */
export function writeList<Row>(listed: Listed<Row>, format: string, { output, notes }: Ends): void {
  const { page, form } = listed;
  if (format === "table") {
    output.write(renderTable(listed, output.isTTY ? output.columns : Number.POSITIVE_INFINITY));
    return;
  }
  output.write(format === "csv" ? renderCsv(listed, output.isTTY) : renderJson(listed));
  if (page.isMore) notes.write(`dl: ${moreText(form.things)}\n`);
}

function renderJson<Row>({ page, form }: Listed<Row>): string {
  const encoded = form.encode(page.rows);
  return `${harmlessJson(JSON.stringify(form.wrap?.(encoded) ?? encoded, undefined, 2))}\n`;
}

/** A terminal would obey some texts of robots; a file gets them as they are. */
function renderCsv<Row>({ page, form: { fields, encode } }: Listed<Row>, isTerminal: boolean): string {
  const show = isTerminal ? printable : (text: string) => text;
  const rows = encode(page.rows).map((row) => fields.map((field) => show(fieldText(row, field))));
  return toCsv([fields, ...rows]);
}

export function renderTable<Row>({ page, form: { things, head, cells } }: Listed<Row>, columns: number): string {
  if (page.rows.length === 0) return `No ${things} match.\n`;
  const rows = page.rows.map((row) => cells(row).map(printable));
  const table = layOut(fitLast([head, ...rows], columns));
  return page.isMore ? `${table}${moreText(things)}\n` : table;
}

function moreText(things: string): string {
  return `More ${things} match: --limit N lists more.`;
}

const LEAST_LAST = 12;

/** Cuts the last column to what the others leave of the screen. */
function fitLast(rows: readonly (readonly string[])[], columns: number): readonly (readonly string[])[] {
  const taken = layOut(rows.map((row) => [...row.slice(0, -1), "|"])).indexOf("|");
  const room = Math.max(LEAST_LAST, columns - taken);
  return Number.isFinite(columns) ? rows.map((row) => [...row.slice(0, -1), fit(row.at(-1)!, room)]) : rows;
}
