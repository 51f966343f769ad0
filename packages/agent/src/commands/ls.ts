import { formatTimestamp } from "@downlink/protocol";
import { compileGlobs } from "@downlink/protocol/globs";
import { formatBytes } from "@downlink/terminal/amounts";
import { fit, wrap } from "@downlink/terminal/fit";
import { printableAll } from "@downlink/terminal/printable";
import { layOut } from "@downlink/terminal/table";
import { shortCard } from "../files/card-marker.ts";
import { type FileState, fileStates } from "../inventory/file-state.ts";
import { InvalidSettingError } from "../settings/invalid-setting-error.ts";
import type { Settings } from "../settings/settings.ts";
import { openDatabaseToRead } from "../state/database.ts";
import { asPrinted, type RenderOptions } from "../text/screen.ts";

export interface ListedFile {
  readonly path: string;
  readonly state: FileState;
  readonly sizeBytes: number;
  readonly modifiedAt: string;
  readonly start: string | null;
  readonly end: string | null;
  readonly reason: { readonly code: string; readonly text: string } | null;
}

export interface ListOptions {
  /** One state or more, separated by commas. */
  readonly state?: string | undefined;
  /** Globs relative to the root; one without a slash matches names in any directory. Without any, all files are listed. */
  readonly globs?: readonly string[];
  /** The most files to list. */
  readonly limit?: string | undefined;
}

export interface Listing {
  /** The files that were written last come first. */
  readonly files: readonly ListedFile[];
  /** How many more files there are than the limit. */
  readonly left: number;
}

/** Lists the files in the state database, whether an agent runs or not; undefined where there is none. Throws {@link InvalidSettingError}. */
export function listFiles(settings: Settings, { state, globs = [], limit }: ListOptions): Listing | undefined {
  const wanted = state?.split(",");
  const unknown = wanted?.find((name) => !fileStates.some((known) => known === name));
  if (unknown !== undefined)
    throw new InvalidSettingError(`${unknown} is no state; there are ${fileStates.join(", ")}`);
  const most = limit === undefined ? Number.POSITIVE_INFINITY : limitOf(limit);
  using database = openDatabaseToRead(settings);
  if (!database) return undefined;
  const query =
    database.prepare(`SELECT coalesce(away.path, files.path) AS path, card, state, size_bytes, mtime_ns, start_ns, end_ns,
    coalesce(reason_code, code) AS reason_code, coalesce(reason_text, text) AS reason_text, intents.reason AS deletion
    FROM files LEFT JOIN findings USING (version_id) LEFT JOIN outcomes USING (version_id) LEFT JOIN intents USING (version_id)
    LEFT JOIN away USING (version_id) WHERE ?1 IS NULL OR state IN (SELECT value FROM json_each(?1)) ORDER BY mtime_ns DESC, 1`);
  query.setReadBigInts(true);
  const matches = matcherOf(globs, settings.storageRoot);
  const files: ListedFile[] = [];
  let left = 0;
  for (const row of query.iterate(wanted ? JSON.stringify(wanted) : null)) {
    if (!matches(row.path as string)) continue;
    if (files.length < most) files.push(toListed(row));
    else left += 1;
  }
  return { files, left };
}

function limitOf(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidSettingError(`--limit ${text}: give a number of files, from 1 on`);
}

/** An absolute glob is made relative to the root; a relative one without a slash matches in any directory. */
function matcherOf(globs: readonly string[], root: string | undefined): (path: string) => boolean {
  if (globs.length === 0) return () => true;
  const belowRoot = globs.map((glob) => {
    if (root !== undefined && glob.startsWith(`${root}/`)) return glob.slice(root.length + 1);
    return glob.includes("/") ? glob : `**/${glob}`;
  });
  try {
    return compileGlobs(belowRoot);
  } catch (error) {
    throw error instanceof RangeError ? new InvalidSettingError(error.message) : error;
  }
}

function toListed(row: Record<string, unknown>): ListedFile {
  return {
    path: row.path as string,
    state: row.state as FileState,
    sizeBytes: Number(row.size_bytes),
    modifiedAt: formatTimestamp(row.mtime_ns as bigint),
    start: timeOf(row.start_ns),
    end: timeOf(row.end_ns),
    reason: reasonOf(row),
  };
}

function reasonOf({
  card,
  deletion,
  reason_code: code,
  reason_text: text,
}: Record<string, unknown>): ListedFile["reason"] {
  if (typeof card === "string")
    return { code: "CardOut", text: `It is on the card …${shortCard(card)}, which is out.` };
  if (typeof deletion === "string") return { code: "Deleting", text: `It is being deleted: ${deletion}.` };
  return code === null ? null : { code: String(code), text: String(text) };
}

function timeOf(timeNs: unknown): string | null {
  return typeof timeNs === "bigint" ? formatTimestamp(timeNs) : null;
}

/** How many columns a terminal needs before each of these is shown. */
const columnsFor = { start: 72, end: 110, reason: 150 } as const;
const SIZE_WIDTH = 8;
const MINUTES_WIDTH = "2026-01-02 03:04".length;
const REASON_WIDTH = 40;
const GAP = 2;

/** Renders a table that fits the terminal: paths are cut in the middle, and the least important columns are left out. Without a terminal nothing is cut. */
export function renderFiles({ files, left }: Listing, options: RenderOptions): string {
  if (files.length === 0) return "No files.\n";
  const { columns } = options;
  const isWhole = columns === Number.POSITIVE_INFINITY;
  const has = (column: keyof typeof columnsFor) => columns >= columnsFor[column];
  const stateWidth = Math.max(...files.map(({ state }) => state.length), "STATE".length);
  const widths = [stateWidth, SIZE_WIDTH, ...(["start", "end"] as const).filter(has).map(() => MINUTES_WIDTH)];
  const taken = [...widths, ...(has("reason") ? [REASON_WIDTH] : [])].reduce((sum, width) => sum + width + GAP, 0);
  const timeIn = isWhole ? toSeconds : toMinutes;
  const rows = printableAll(files).map(({ path, state, sizeBytes, start, end, reason }) => [
    isWhole ? path : fit(path, columns - taken),
    state,
    formatBytes(sizeBytes).padStart(SIZE_WIDTH),
    ...(has("start") ? [timeIn(start)] : []),
    ...(has("end") ? [timeIn(end)] : []),
    ...(has("reason") ? [isWhole ? (reason?.text ?? "") : fit(reason?.text ?? "", REASON_WIDTH)] : []),
  ]);
  const head = ["PATH", "STATE", "SIZE".padStart(SIZE_WIDTH), "START", "END", "REASON"].slice(0, rows[0]!.length);
  return layOut([head, ...rows]) + notesOf(files, left, options);
}

/** Lines below the table. */
function notesOf(files: readonly ListedFile[], left: number, options: RenderOptions): string {
  if (options.columns === Number.POSITIVE_INFINITY) return "";
  const hasHidden = options.columns < columnsFor.reason && files.some(({ reason }) => reason !== null);
  const notes = [
    ...(left > 0 ? [`${left} more, older; a higher --limit shows them.`] : []),
    ...(hasHidden ? [asPrinted("`agent explain FILE` says why a file is in its state.", options)] : []),
  ];
  const lines = notes.flatMap((note) => wrap(note, { width: options.columns, lines: Number.POSITIVE_INFINITY }));
  return lines.length === 0 ? "" : `\n${lines.join("\n")}\n`;
}

function toSeconds(time: string | null): string {
  return time?.replace(/(\.\d+)?Z$/, "Z") ?? "";
}

/** The time is in UTC, as all times here. */
function toMinutes(time: string | null): string {
  return time?.slice(0, MINUTES_WIDTH).replace("T", " ") ?? "";
}
