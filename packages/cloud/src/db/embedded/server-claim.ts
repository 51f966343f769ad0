import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ClusterInUseError, EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import { inspectProcess } from "./process-facts.ts";

/** This setting on the server's command line says which process supervises it. */
const CLAIM = "downlink.supervisor";
const FAST_SHUTDOWN_MS = 30_000;
const IMMEDIATE_SHUTDOWN_MS = 10_000;
const POLL_MS = 20;

/** Makes a new claim of this process, as a server setting: `name=pid:startedAt:nonce`. */
export function newClaim(nonce: string): string {
  return `${CLAIM}=${process.pid}:${inspectProcess(process.pid)?.startedAt}:${nonce}`;
}

/**
 * Makes sure that no server runs on the data directory. `postmaster.pid` may name a dead process (Postgres itself replaces the file), a
 * process that is no server of this directory because the pid was used again (the file is removed), a server whose supervisor has died (it
 * is stopped), or a server that is still in use ({@link ClusterInUseError}; it is left alone).
 */
export async function reclaimDataDirectory(dataDir: string, ownClaim: string): Promise<void> {
  const pid = readPostmasterPid(dataDir);
  const commandLine = pid === undefined ? undefined : inspectProcess(pid)?.commandLine;
  if (pid === undefined || commandLine === undefined) return;
  if (!isServerOf(commandLine, dataDir)) {
    rmSync(join(dataDir, "postmaster.pid"), { force: true });
    return;
  }
  if (isInUse(commandLine, ownClaim)) throw new ClusterInUseError(dataDir, pid);
  await stopOrphan(pid, dataDir);
}

function readPostmasterPid(dataDir: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(join(dataDir, "postmaster.pid"), "utf8"), 10);
    return pid > 1 ? pid : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** A server whose command line names no directory took it from its environment, and is assumed to be this one. */
function isServerOf(commandLine: string, dataDir: string): boolean {
  if (!/(^|\/)(postgres|postmaster)( |$)/.test(commandLine)) return false;
  return commandLine.includes(dataDir) || !commandLine.includes(" -D");
}

/** A server without a claim was started by hand, so it is in use. */
function isInUse(commandLine: string, ownClaim: string): boolean {
  if (commandLine.includes(ownClaim)) return false;
  const [, pid, startedAt] = commandLine.match(new RegExp(`${CLAIM}=(\\d+):([^: ]+):`)) ?? [];
  if (pid === undefined) return true;
  return inspectProcess(Number(pid))?.startedAt === startedAt;
}

/**
 * The server's own guard is already stopping it, unless the guard was killed too. An immediate shutdown loses nothing: the next start
 * replays the log.
 */
async function stopOrphan(pid: number, dataDir: string): Promise<void> {
  for (const [signal, patienceMs] of [
    ["SIGINT", FAST_SHUTDOWN_MS],
    ["SIGQUIT", IMMEDIATE_SHUTDOWN_MS],
  ] as const) {
    sendSignal(pid, signal);
    const deadline = performance.now() + patienceMs;
    while (performance.now() < deadline) {
      const commandLine = inspectProcess(pid)?.commandLine;
      if (commandLine === undefined || !isServerOf(commandLine, dataDir)) return;
      await delay(POLL_MS);
    }
  }
  throw new EmbeddedPostgresError(`the database in ${dataDir} is still served by process ${pid}, which does not stop`);
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error; // the server has ended meanwhile
  }
}
