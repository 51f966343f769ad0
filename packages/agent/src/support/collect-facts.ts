import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { arch, cpus, freemem, hostname, loadavg, platform, release, totalmem, uptime } from "node:os";
import { databasePath, openDatabaseToRead } from "../state/database.ts";
import { agentVersion } from "../system/version.ts";

const MAX_LOG_LINES = 5000;
const LOG_TIMEOUT_MS = 10_000;
const MAX_LOG_BYTES = 16 * 1024 * 1024;

export function collectSystem() {
  return {
    agentVersion,
    nodeVersion: process.version,
    system: { platform: platform(), release: release(), arch: arch(), hostname: hostname(), uptimeSeconds: uptime() },
    processors: { count: cpus().length, model: cpus()[0]?.model, load: loadavg() },
    memory: { totalBytes: totalmem(), freeBytes: freemem() },
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    takenAt: new Date().toISOString(),
  };
}

/** Counts what the state database holds; its rows stay on the device. */
export function collectDatabase(place: { stateDir: string; stateGroup: string }) {
  using database = openDatabaseToRead(place);
  if (!database) return { isThere: false };
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
  const countRows = (table: string) => Number(database.prepare(`SELECT count(*) AS rows FROM "${table}"`).get()?.rows);
  return {
    isThere: true,
    sizeBytes: statSync(databasePath(place.stateDir)).size,
    schemaVersion: Number(database.prepare("PRAGMA user_version").get()?.user_version),
    check: database.prepare("PRAGMA quick_check(10)").all(),
    rows: Object.fromEntries(tables.map(({ name }) => [String(name), countRows(String(name))])),
    reasons: database
      .prepare("SELECT state, reason_code, count(*) AS files FROM files JOIN findings USING (version_id) GROUP BY 1, 2")
      .all(),
  };
}

/** Reads the service's last lines from the journal, where there is one; the agent keeps no log of its own. */
export function collectLog(): Promise<string> {
  const args = ["-u", "downlink-agent", "-n", String(MAX_LOG_LINES), "--no-pager", "-o", "short-iso"];
  return new Promise((resolve) => {
    execFile("journalctl", args, { timeout: LOG_TIMEOUT_MS, maxBuffer: MAX_LOG_BYTES }, (error, stdout) =>
      resolve(error ? `no journal: ${error.message}\n` : stdout),
    );
  });
}
