import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const REPORT_MS = 5000;
const LOOK_MS = 50;

/** Where the processes of tests write their reports. It is removed with this process. */
const REPORTS = mkdtempSync(join(tmpdir(), "downlink-reports-"));
process.once("exit", () => rmSync(REPORTS, { recursive: true, force: true }));

/** Options of Node by which a process of tests tells, when asked, what it still waits for. */
export const REPORTING = [
  ...["--report-on-signal", "--report-compact", "--report-exclude-network", "--report-exclude-env"],
  `--report-directory=${REPORTS}`,
];

/**
 * Kills the processes of this one that run these test files, and resolves to what each of them was waiting for. Without `/proc` there is
 * nobody to be found, and the list is empty.
 */
export async function endSilent(files: readonly string[]): Promise<string[]> {
  const pids = childrenOf(process.pid).filter((pid) => files.some((file) => argumentsOf(pid).includes(resolve(file))));
  for (const pid of pids) process.kill(pid, "SIGUSR2");
  const lastMs = performance.now() + REPORT_MS;
  while (pids.some((pid) => !readReport(pid)) && performance.now() < lastMs) await delay(LOOK_MS);
  const waits = pids.map((pid) => `${argumentsOf(pid).at(-1)} (${pid}) waited for ${readWaits(pid)}`);
  for (const pid of pids) kill(pid);
  return waits;
}

function childrenOf(parent: number): number[] {
  const pids = readAll("/proc", (at) => readdirSync(at), []).filter((name) => /^\d+$/.test(name));
  // The name of the program, in brackets, may hold anything; the state and the parent come after it.
  const parentOf = (pid: string) =>
    readText(`/proc/${pid}/stat`)
      .replace(/^.*\) \S /s, "")
      .split(" ")[0];
  return pids.filter((pid) => parentOf(pid) === String(parent)).map(Number);
}

function argumentsOf(pid: number): string[] {
  return readText(`/proc/${pid}/cmdline`).split("\0").filter(Boolean);
}

interface Handle {
  readonly type: string;
  readonly is_active: boolean;
  readonly is_referenced?: boolean;
  readonly pid?: number;
  readonly firesInMsFromNow?: number;
  readonly localEndpoint?: { readonly port?: number } | null;
  readonly remoteEndpoint?: { readonly port?: number } | null;
}

function readWaits(pid: number): string {
  const report = readReport(pid);
  if (!report) return "something unknown: it wrote no report";
  const open = report.libuv.filter((handle) => handle.is_active && handle.is_referenced);
  return open.map(describe).join(", ") || "nothing that it knows of";
}

/** Answers undefined as long as the report is not there as a whole. */
function readReport(pid: number): { readonly libuv: readonly Handle[] } | undefined {
  const name = readdirSync(REPORTS).find((file) => file.split(".")[3] === String(pid));
  return name === undefined
    ? undefined
    : readAll(join(REPORTS, name), (at) => JSON.parse(readFileSync(at, "utf8")), undefined);
}

function describe({ type, pid, firesInMsFromNow, localEndpoint, remoteEndpoint }: Handle): string {
  if (pid !== undefined) return `process ${pid} (${argumentsOf(pid).slice(0, 3).join(" ")})`;
  if (firesInMsFromNow !== undefined) return `${type} in ${firesInMsFromNow} ms`;
  const ports = [localEndpoint?.port, remoteEndpoint?.port].filter((port) => port !== undefined);
  return [type, ports.join(" to ")].filter(Boolean).join(" ");
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** A process may end at any moment. */
function readText(path: string): string {
  return readAll(path, (at) => readFileSync(at, "utf8"), "");
}

function readAll<T>(path: string, read: (path: string) => T, otherwise: T): T {
  try {
    return read(path);
  } catch {
    return otherwise;
  }
}
