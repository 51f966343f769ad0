// The files in a place for backups:
//
// - `objects/<organization>/<object>` are the objects of all backups that are kept there, each once.
// - `<time>/database` is the copy of the database as a tar archive, and `<time>/database-manifest` Postgres's description of it.
// - `<time>/objects-<number>` name the objects of one backup, `<time>/notes-<number>` hold its notes, a line each.
// - `<time>/admin-key` is the admin key, if the data directory had it.
// - `<time>/backup.json` is written last: without it, the backup is not complete.
//
// With a key all of them are encrypted (`encrypted-stream.ts`), and their recorded sizes and hashes are those of the bytes before that.

import { z } from "zod";
import type { Folder } from "../../store/blobs/folder.ts";
import { BackupError, DamagedBackupError } from "./backup-errors.ts";

export const OBJECTS = "objects/";
const TIME = /^(\d{8}t\d{6}z)\//;
const FORMAT = 1;

const WrittenFile = z.object({ name: z.string(), sizeBytes: z.number(), sha256: z.string() });

const BackupRecord = z.object({
  format: z.literal(FORMAT),
  startedAt: z.string(),
  endedAt: z.string(),
  /** Null if the operator copies the database. */
  database: z.object({ postgres: z.string(), incarnation: z.string() }).nullable(),
  objects: z.object({ count: z.number(), bytes: z.number() }),
  notes: z.number(),
  /** All files of this backup but this one. */
  files: z.array(WrittenFile),
});

export type BackupRecord = z.infer<typeof BackupRecord>;
export type BackupFile = z.infer<typeof WrittenFile>;

/** Says whether a file in a place belongs to backups. */
export function isOfBackup(name: string): boolean {
  return name.startsWith(OBJECTS) || TIME.test(name);
}

/** Names a backup by its beginning. */
export function nameOf(startedMs: number): string {
  return `${new Date(startedMs).toISOString().slice(0, 19).replace(/[-:]/g, "").toLowerCase()}z`;
}

/** Returns the name of the file that makes a backup complete. */
export function recordOf(name: string): string {
  return `${name}/backup.json`;
}

export async function writeRecord(folder: Folder, name: string, record: Omit<BackupRecord, "format">): Promise<void> {
  await folder.putText(recordOf(name), `${JSON.stringify({ format: FORMAT, ...record }, null, 2)}\n`);
}

/** Returns undefined if the backup is not complete. */
export async function readRecord(folder: Folder, name: string): Promise<BackupRecord | undefined> {
  const text = await folder.readText(recordOf(name));
  if (text === undefined) return undefined;
  try {
    return BackupRecord.parse(JSON.parse(text));
  } catch {
    throw new DamagedBackupError(`${recordOf(name)} is not what was written, or of a later version`);
  }
}

export interface KnownBackups {
  /** The complete ones, the oldest first. */
  readonly complete: readonly string[];
  readonly incomplete: readonly string[];
}

/** Lists the backups in a place. */
export async function listBackups(folder: Folder): Promise<KnownBackups> {
  const names = new Set<string>();
  const recorded = new Set<string>();
  for await (const { name } of folder.list("")) {
    const time = TIME.exec(name)?.[1];
    if (time === undefined) continue;
    names.add(time);
    if (name === recordOf(time)) recorded.add(time);
  }
  const sorted = [...names].sort();
  const complete = sorted.filter((name) => recorded.has(name));
  const incomplete = sorted.filter((name) => !recorded.has(name));
  return { complete, incomplete };
}

export interface FoundBackup {
  readonly name: string;
  readonly record: BackupRecord;
}

/** Finds a complete backup by its name; undefined: the newest one. */
export async function findBackup(folder: Folder, wanted: string | undefined): Promise<FoundBackup> {
  const { complete, incomplete } = await listBackups(folder);
  const name = wanted ?? complete.at(-1);
  const record = name === undefined ? undefined : await readRecord(folder, name);
  if (name !== undefined && record) return { name, record };
  const has =
    complete.length > 0 ? `it has ${complete.join(", ")}` : `none is complete, ${incomplete.length} broke off`;
  throw new BackupError(`${folder.address} has no complete backup${wanted === undefined ? "" : ` ${wanted}`}: ${has}`);
}

/** Returns what the record says of a file that each backup with a database has. */
export function requireFile({ files }: BackupRecord, name: string): BackupFile {
  const file = files.find((one) => one.name === name);
  if (!file) throw new DamagedBackupError(`it does not name ${name}`);
  return file;
}
