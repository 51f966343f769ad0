import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { ClusterInUseError } from "./embedded-postgres-error.ts";
import { inspectProcess } from "./process-facts.ts";
import { answers } from "./server-process.ts";

const POLL_MS = 20;
/** The line of `postmaster.pid` with the socket's folder; Postgres writes it some time after it made the file. */
const SOCKET_DIR_LINE = 4;

/** Returns the URL of a server that another process runs, once it answers; undefined if it ends before that. */
export async function joinServer({ dataDir, pid }: ClusterInUseError): Promise<string | undefined> {
  while (inspectProcess(pid) !== undefined) {
    const socketDir = readSocketDir(dataDir);
    const url = socketDir && socketUrl(socketDir);
    if (url && (await answers(url))) return url;
    await delay(POLL_MS);
  }
  return undefined;
}

/** Returns the URL of the database `postgres` for node-postgres: through a Unix socket, as superuser, without a password. */
export function socketUrl(socketDir: string): string {
  return `postgresql://postgres@localhost:5432/postgres?host=${encodeURIComponent(socketDir)}`;
}

function readSocketDir(dataDir: string): string | undefined {
  try {
    return readFileSync(join(dataDir, "postmaster.pid"), "utf8").split("\n")[SOCKET_DIR_LINE] || undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
