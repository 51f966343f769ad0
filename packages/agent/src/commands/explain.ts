import type { DatabaseSync } from "node:sqlite";
import { formatTimestamp } from "@downlink/protocol";
import { printableAll } from "@downlink/terminal/printable";
import { shellWord } from "@downlink/terminal/shell-word";
import { type AwayFacts, explainState } from "../explain/explain-state.ts";
import { explainTouched } from "../explain/explain-touched.ts";
import { explainUntracked } from "../explain/explain-untracked.ts";
import type { Explanation } from "../explain/explanation.ts";
import { shortCard } from "../files/card-marker.ts";
import { textOfName } from "../files/path-text.ts";
import type { FileState } from "../inventory/file-state.ts";
import { compileAutoImport } from "../report/auto-import.ts";
import { requireSetting, type Settings } from "../settings/settings.ts";
import { readCloudSettings } from "../state/cloud-settings.ts";
import { openDatabaseToRead } from "../state/database.ts";
import { asPrinted, labelled, type RenderOptions } from "../text/screen.ts";
import { locate } from "./locate-file.ts";
import { readStatus } from "./status.ts";

/** Explains why a file is or is not in the cloud. Its path is absolute, or relative to the working directory or the storage root. */
export async function explainFile(settings: Settings, file: string): Promise<Explanation> {
  const explanation = await findExplanation(settings, file);
  const { path, why, next, todo } = explanation;
  const named = (text: string) => withFileName(text, path);
  return { ...explanation, why: named(why), next: named(next), todo: todo && named(todo) };
}

/** Makes the commands in a text about a file name this very file, quoted for a shell. */
export function withFileName(text: string, path: string): string {
  return text.replace(/(?<=`agent \w+ )FILE(?=`)/g, () => shellWord(path));
}

async function findExplanation(settings: Settings, file: string): Promise<Explanation> {
  const root = requireSetting(settings, "storageRoot");
  const status = await readStatus(settings);
  using database = openDatabaseToRead(settings);
  const isKnown = (candidate: string) =>
    (findRow(database, candidate) ?? findDeletion(database, candidate)) !== undefined;
  const located = locate(file, { root, isKnown });
  const { absolutePath } = located;
  // The text may be a path or a name on the disk: a backslash may stand for itself or for another byte.
  const path =
    [located.path, located.path && textOfName(Buffer.from(located.path))].find(
      (candidate) => candidate !== undefined && findRow(database, candidate),
    ) ?? located.path;
  const row = path === undefined ? undefined : findRow(database, path);
  if (!row || path === undefined) {
    const deletion = path === undefined ? undefined : findDeletion(database, path);
    return await explainUntracked({ path, absolutePath, root, deletion, settings, status });
  }
  const globs = settings.autoImport ?? (database && readCloudSettings(database).autoImport) ?? [];
  const explanation = explainState({
    path,
    state: row.state,
    reason: row.reasonText,
    reasonCode: row.reasonCode,
    outcome: row.outcome,
    isRequestedHere: row.isRequestedHere,
    away: row.away,
    isAutoImported: compileAutoImport(globs).matches(path),
    settleTimeMs: settings.settleTimeMs,
    incompleteAfterMs: settings.incompleteAfterMs,
    status,
    nowMs: Date.now(),
  });
  // While the card is out, another file may be at the path.
  const isHere = status.health !== "not running" && status.storage.isPresent !== false && row.away === null;
  const touched = isHere ? explainTouched(row, absolutePath) : undefined;
  return { ...explanation, ...touched };
}

function findRow(database: DatabaseSync | undefined, path: string) {
  const query =
    database?.prepare(`SELECT state, reason_code, reason_text, code, text, wishes.version_id AS requested_here,
      inode, size_bytes, mtime_ns, ctime_ns, card, state_before, since_ns FROM files LEFT JOIN findings USING (version_id)
      LEFT JOIN outcomes USING (version_id) LEFT JOIN wishes USING (version_id) LEFT JOIN away USING (version_id)
      WHERE files.path = ?1 OR away.path = ?1 ORDER BY card IS NOT NULL, since_ns DESC LIMIT 1`);
  query?.setReadBigInts(true);
  const row = query?.get(path);
  if (!row) return undefined;
  const entry = {
    inode: row.inode as bigint,
    sizeBytes: row.size_bytes as bigint,
    mtimeNs: row.mtime_ns as bigint,
    ctimeNs: row.ctime_ns as bigint,
  };
  return {
    ...entry,
    state: row.state as FileState,
    reasonCode: row.reason_code as string | null,
    reasonText: row.reason_text as string | null,
    outcome: row.code === null ? null : { code: String(row.code), text: String(row.text) },
    isRequestedHere: row.requested_here !== null,
    away: toAwayFacts(row),
  };
}

function toAwayFacts({ card, state_before: before, since_ns: sinceNs }: Record<string, unknown>): AwayFacts | null {
  if (typeof card !== "string") return null;
  const since = `${new Date(Number((sinceNs as bigint) / 1_000_000n)).toISOString().slice(0, 19)}Z`;
  return { card: shortCard(card), since, before: before as FileState };
}

function findDeletion(database: DatabaseSync | undefined, path: string) {
  const query = database?.prepare("SELECT reason, deleted_at_ns FROM deleted WHERE path = ? ORDER BY id DESC LIMIT 1");
  query?.setReadBigInts(true);
  const row = query?.get(path);
  return row && { at: formatTimestamp(row.deleted_at_ns as bigint), reason: String(row.reason) };
}

export function renderExplanation(explanation: Explanation, options: RenderOptions): string {
  const { path, state, why, lastAttempt, next, todo } = printableAll(explanation);
  const layout = { ...options, lines: Number.POSITIVE_INFINITY };
  const rows = [
    ["State", state],
    ["Why", why],
    ["Last try", lastAttempt],
    ["Next", next],
    ["To do", todo],
  ] as const;
  const lines = rows.flatMap(([label, text]) =>
    text === null ? [] : labelled(label, asPrinted(text, options), layout),
  );
  return `${[...labelled("File", "", layout).map((label) => label + path), ...lines].join("\n")}\n`;
}
