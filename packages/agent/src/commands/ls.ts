import { formatTimestamp } from "@downlink/protocol";
import { openDatabaseToRead } from "../inventory/database.ts";
import { type FileState, fileStates } from "../inventory/file-state.ts";
import { InvalidSetting } from "../settings/invalid-setting.ts";
import type { Settings } from "../settings/settings.ts";
import { layOut } from "../status/table.ts";
import { formatBytes, printable } from "../status/text.ts";

export interface ListedFile {
  readonly path: string;
  readonly state: FileState;
  readonly sizeBytes: number;
  readonly modifiedAt: string;
  readonly start: string | null;
  readonly end: string | null;
  readonly reason: { readonly code: string; readonly text: string } | null;
}

/** What the state database knows, by path; whether an agent runs or not. Undefined where there is none. */
export function listFiles(
  settings: Pick<Settings, "stateDir" | "stateGroup">,
  state?: string,
): ListedFile[] | undefined {
  if (state !== undefined && !fileStates.some((known) => known === state)) {
    throw new InvalidSetting(`${state} is no state; there are ${fileStates.join(", ")}`);
  }
  using database = openDatabaseToRead(settings);
  if (!database) return undefined;
  const query = database.prepare(`SELECT path, state, size_bytes, mtime_ns, start_ns, end_ns, reason_code, reason_text,
    intents.reason AS deletion FROM files LEFT JOIN findings USING (version_id) LEFT JOIN intents USING (version_id) WHERE ?1 IS NULL OR state = ?1 ORDER BY path`);
  query.setReadBigInts(true);
  return Array.from(query.iterate(state ?? null), (row) => ({
    path: row.path as string,
    state: row.state as FileState,
    sizeBytes: Number(row.size_bytes),
    modifiedAt: formatTimestamp(row.mtime_ns as bigint),
    start: timeOf(row.start_ns),
    end: timeOf(row.end_ns),
    reason: reasonOf(row),
  }));
}

function reasonOf({ deletion, reason_code: code, reason_text: text }: Record<string, unknown>): ListedFile["reason"] {
  if (typeof deletion === "string") return { code: "Deleting", text: `It is being deleted: ${deletion}.` };
  return code === null ? null : { code: String(code), text: String(text) };
}

function timeOf(timeNs: unknown): string | null {
  return typeof timeNs === "bigint" ? formatTimestamp(timeNs) : null;
}

export function renderFiles(files: readonly ListedFile[]): string {
  if (files.length === 0) return "No files.\n";
  const rows = files.map(({ path, state, sizeBytes, start, end, reason }) => [
    printable(path),
    state,
    formatBytes(sizeBytes).padStart(SIZE_WIDTH),
    toSeconds(start),
    toSeconds(end),
    printable(reason?.text ?? ""),
  ]);
  return layOut([["PATH", "STATE", "SIZE".padStart(SIZE_WIDTH), "START", "END", "REASON"], ...rows]);
}

const SIZE_WIDTH = 8;

function toSeconds(time: string | null): string {
  return time?.replace(/(\.\d+)?Z$/, "Z") ?? "";
}
