import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Logger } from "pino";
import { ConfigError } from "../../core/config-error.ts";

const FILE = "uploads.db";
const SCHEMA_VERSION = 1;
const SCHEMA = `
  CREATE TABLE uploads (
    upload_id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE,
    size_bytes INTEGER NOT NULL, part_size_bytes INTEGER NOT NULL
  ) STRICT;

  -- The bytes that a part's number stands for. Only the bucket knows whether they are stored.
  CREATE TABLE parts (
    upload_id TEXT NOT NULL REFERENCES uploads (upload_id) ON DELETE CASCADE,
    number INTEGER NOT NULL, digest TEXT NOT NULL, length_bytes INTEGER NOT NULL,
    PRIMARY KEY (upload_id, number)
  ) STRICT;

  -- A piece of a part, stored as an object of its own until the part is whole.
  CREATE TABLE pieces (
    upload_id TEXT NOT NULL REFERENCES uploads (upload_id) ON DELETE CASCADE,
    part_number INTEGER NOT NULL, "offset" INTEGER NOT NULL, length_bytes INTEGER NOT NULL,
    digest TEXT NOT NULL, name TEXT NOT NULL,
    PRIMARY KEY (upload_id, part_number, "offset")
  ) STRICT;

  -- The mark of the store's last start that this database knows.
  CREATE TABLE starts (mark TEXT NOT NULL) STRICT;
`;

/** A process that is ending may still hold it. */
const BUSY_MS = 5000;
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

/**
 * Opens the database in a folder, which no other process uses. A damaged one is set aside, and a new one begins: nothing but unfinished uploads
 * is lost with it. Throws a {@link ConfigError} for one that a newer program wrote.
 */
export function openRecordsFile(dir: string, log: Pick<Logger, "warn">): DatabaseSync {
  const path = join(dir, FILE);
  try {
    return openAt(path);
  } catch (error) {
    if (!isDamaged(error)) throw error;
    const setAsideAs = setAside(path);
    log.warn({ setAsideAs }, "the records of unfinished uploads are damaged; these uploads start over");
    return openAt(path);
  }
}

function openAt(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: BUSY_MS });
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
  if (row?.quick_check !== "ok") throw Object.assign(new Error(String(row?.quick_check)), { errcode: SQLITE_CORRUPT });
}

function prepareSchema(database: DatabaseSync, path: string): void {
  const version = Number(database.prepare("PRAGMA user_version").get()?.user_version);
  if (version > SCHEMA_VERSION)
    throw new ConfigError([`DOWNLINK_DATA_DIR: a newer program wrote ${path} (schema ${version}); update this one`]);
  if (version < SCHEMA_VERSION) database.exec(`BEGIN; ${SCHEMA} PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`);
}

/** The primary result code; extended codes carry more in the higher bits. */
function isDamaged(error: unknown): boolean {
  const { errcode } = error as { errcode?: number };
  return errcode !== undefined && [SQLITE_CORRUPT, SQLITE_NOTADB].includes(errcode & 0xff);
}

function setAside(path: string): string {
  const setAsideAs = `${path}.damaged-${new Date().toISOString().replace(/[:.]/g, "-")}`;
  for (const suffix of ["", "-wal", "-shm"])
    if (existsSync(path + suffix)) renameSync(path + suffix, setAsideAs + suffix);
  return setAsideAs;
}
