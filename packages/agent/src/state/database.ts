import { accessSync, constants, existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { isStateCorrupt, isStateUnwritable, StateRefusedError } from "./state-errors.ts";
import { readingState } from "./state-unreadable.ts";

const firstSchema = `
  CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

  -- One row for each version of a file that is there. device and inode as signed 64 bits.
  CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    version_id TEXT NOT NULL UNIQUE,
    path TEXT NOT NULL UNIQUE,
    device INTEGER NOT NULL, inode INTEGER NOT NULL, size_bytes INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL,
    state TEXT NOT NULL,
    reported_as TEXT,
    needs_report INTEGER NOT NULL
  ) STRICT;

  -- What indexing found; apart, because states change often and this is long.
  CREATE TABLE findings (
    version_id TEXT PRIMARY KEY REFERENCES files (version_id) ON DELETE CASCADE,
    head_tail_sha256 TEXT NOT NULL,
    start_ns INTEGER, end_ns INTEGER,
    reason_code TEXT, reason_text TEXT,
    item TEXT
  ) STRICT;

  -- By their content; never many, kept for the cloud to ask for.
  CREATE TABLE schemas (sha256 TEXT PRIMARY KEY, data BLOB NOT NULL) STRICT;

  -- Versions that are gone and that the cloud may still know.
  CREATE TABLE removals (version_id TEXT PRIMARY KEY, reported_as TEXT, because TEXT NOT NULL) STRICT;
`;

const deletionSchema = `
  -- Of all bytes of the version; a proof while the file's ctime is still the one that it had when they were read.
  CREATE TABLE hashes (
    version_id TEXT PRIMARY KEY REFERENCES files (version_id) ON DELETE CASCADE,
    sha256 TEXT NOT NULL, ctime_ns INTEGER NOT NULL
  ) STRICT;

  -- Of files in state deleting: under which rule, what they are if they stay, and the permit once it was granted
  -- (empty: none is needed). From then on the file may be in the trash, or gone.
  CREATE TABLE intents (
    version_id TEXT PRIMARY KEY REFERENCES files (version_id) ON DELETE CASCADE,
    reason TEXT NOT NULL, state_before TEXT NOT NULL, permit_id TEXT
  ) STRICT;

  -- What was deleted last, with the proof.
  CREATE TABLE deleted (
    id INTEGER PRIMARY KEY,
    version_id TEXT NOT NULL, path TEXT NOT NULL, size_bytes INTEGER NOT NULL,
    reason TEXT NOT NULL, permit_id TEXT, sha256 TEXT, deleted_at_ns INTEGER NOT NULL
  ) STRICT;
`;

/** A hash that proves nothing for a deletion still says which content it is of. */
const CONTENT_SCHEMA = "ALTER TABLE hashes ADD COLUMN is_proof INTEGER NOT NULL DEFAULT 1;";

const outcomeSchema = `
  -- What is known of how a file's last import ended, while that holds: why it failed, or that it counts no more.
  CREATE TABLE outcomes (
    version_id TEXT PRIMARY KEY REFERENCES files (version_id) ON DELETE CASCADE,
    code TEXT NOT NULL, text TEXT NOT NULL
  ) STRICT;

  -- Imports that somebody asked for on the device and that the control plane has not heard of.
  CREATE TABLE wishes (version_id TEXT PRIMARY KEY REFERENCES files (version_id) ON DELETE CASCADE) STRICT;

  -- Earlier agents did not learn why imports failed, nor that data was deleted: the answer to a listing says it.
  INSERT INTO facts SELECT 'endsUnknown', '1' WHERE EXISTS (SELECT 1 FROM files WHERE state IN ('imported', 'failed'));
`;

const awaySchema = `
  -- Of files in state away: on which card they are, under which path there, since when, and what they are once it is in again.
  -- In files their path begins with a slash and the card, so that the path itself is free for the card that is in.
  CREATE TABLE away (
    version_id TEXT PRIMARY KEY REFERENCES files (version_id) ON DELETE CASCADE,
    card TEXT NOT NULL, path TEXT NOT NULL, state_before TEXT NOT NULL, since_ns INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX away_cards ON away (card);
`;

/** Each step leads from the version of its index to the next one. Steps that agents in the field have taken are never edited. */
const schemaSteps = [firstSchema, deletionSchema, CONTENT_SCHEMA, outcomeSchema, awaySchema];
export const SCHEMA_VERSION = schemaSteps.length;

export function databasePath(stateDir: string): string {
  return join(stateDir, "agent.db");
}

/**
 * Opens the state for writing. A damaged database is set aside under a name with the date, which is `setAsideAs`, and a new
 * one begins. Throws {@link StateRefusedError} for a database that a newer agent wrote.
 */
export function openDatabase(stateDir: string): { database: DatabaseSync; setAsideAs?: string } {
  const path = databasePath(stateDir);
  try {
    return { database: openAt(path) };
  } catch (error) {
    if (!isStateCorrupt(error)) throw error;
    const setAsideAs = setAside(path);
    return { database: openAt(path), setAsideAs };
  }
}

/**
 * Opens the state for reading, while an agent writes or after it ended. Undefined where no agent of this version ever ran.
 * Throws {@link StateUnreadableError}.
 */
export function openDatabaseToRead(place: { stateDir: string; stateGroup: string }): DatabaseSync | undefined {
  const path = databasePath(place.stateDir);
  if (!readingState(place, () => isThere(path))) return undefined;
  const database = openReadOnly(path);
  if (readVersion(database) === SCHEMA_VERSION) return database;
  database.close();
  return undefined;
}

function isThere(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}

/**
 * A user who may not write beside the database cannot make the files that its log needs. While an agent runs, or after it was killed, these
 * files exist; otherwise the database is complete and does not change.
 */
function openReadOnly(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5000 });
  try {
    readVersion(database);
    return database;
  } catch (error) {
    database.close();
    if (!isStateUnwritable(error) || existsSync(`${path}-wal`)) throw error;
    const address = pathToFileURL(path);
    address.searchParams.set("immutable", "1");
    return new DatabaseSync(address, { readOnly: true });
  }
}

function openAt(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 5000 });
  try {
    // FULL: a commit survives a power cut. With NORMAL the last ones are lost.
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
    checkIntegrity(database);
    prepareSchema(database, path);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function checkIntegrity(database: DatabaseSync): void {
  const row = database.prepare("PRAGMA quick_check(1)").get();
  if (row?.quick_check === "ok") return;
  throw Object.assign(new Error(String(row?.quick_check)), { code: "ERR_SQLITE_ERROR", errcode: 11 });
}

function prepareSchema(database: DatabaseSync, path: string): void {
  const version = readVersion(database);
  if (version > SCHEMA_VERSION) {
    throw new StateRefusedError(`${path} was written by a newer agent (schema ${version}); update this one`);
  }
  for (let at = version; at < SCHEMA_VERSION; at++) {
    database.exec(`BEGIN; ${schemaSteps[at]} PRAGMA user_version = ${at + 1}; COMMIT`);
  }
}

function readVersion(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA user_version").get()?.user_version);
}

function setAside(path: string): string {
  const setAsideAs = `${path}.damaged-${new Date().toISOString().replace(/[:.]/g, "-")}`;
  for (const suffix of ["", "-wal", "-shm"]) {
    if (existsSync(path + suffix)) renameSync(path + suffix, setAsideAs + suffix);
  }
  return setAsideAs;
}
