import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { isStateUnwritable, StateRefusedError } from "./state-errors.ts";

/**
 * Keeps a second agent off the state directory. It is a lock of the operating system on a file of SQLite, which ends with the
 * process, however that ends. Throws a {@link StateRefusedError} that names the other process.
 */
export function lockStateDir(stateDir: string): Disposable {
  const lock = new DatabaseSync(join(stateDir, "agent.lock"), { timeout: 0 });
  try {
    closeToOthers(join(stateDir, "agent.lock"));
    lock.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
  } catch (error) {
    lock.close();
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
    throw new StateRefusedError(`another agent (pid ${readPid(stateDir) ?? "unknown"}) runs with ${stateDir}`);
  }
  writePid(stateDir);
  return { [Symbol.dispose]: () => lock.close() };
}

const SQLITE_BUSY = 5;

/** A user who may read the file could lock every agent out. Only the owner can change its mode. */
function closeToOthers(path: string): void {
  if (statSync(path).uid === process.getuid?.()) chmodSync(path, 0o600);
}

/** The pid is only for messages; the lock is what counts. */
export function readPid(stateDir: string): number | undefined {
  try {
    const pid = Number(readFileSync(pidPath(stateDir), "utf8"));
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function writePid(stateDir: string): void {
  try {
    writeFileSync(pidPath(stateDir), String(process.pid));
  } catch (error) {
    if (!isStateUnwritable(error)) throw error;
  }
}

function pidPath(stateDir: string): string {
  return join(stateDir, "agent.pid");
}
