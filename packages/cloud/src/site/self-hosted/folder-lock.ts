import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ConfigError } from "../../core/config-error.ts";

/** Holds the data folder until disposed of, or until the process ends in whatever way. Throws if another process has it. */
export function lockFolder(dir: string): Disposable {
  const database = new DatabaseSync(join(dir, "site.lock"));
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
    throw new ConfigError([`DOWNLINK_DATA_DIR: ${dir} is in use by another process`]);
  }
  return { [Symbol.dispose]: () => database.close() };
}

const SQLITE_BUSY = 5;
