import { cpus } from "node:os";
import { makeTable } from "../../terminal/make-table.ts";
import { say } from "../report.ts";

export interface Downloaded {
  ms: number;
  firstByteMs: number;
  bytes: number;
  /** The CPU time of the control plane. */
  cpuMs: number;
}

export interface HttpResult {
  name: string;
  plain: Downloaded[];
  exported: Downloaded[];
}

const MOST_RATIO = 1.3;

/** `!` marks what misses its target. */
export function reportDownloads(results: readonly HttpResult[]): void {
  const head = [
    "by export link",
    "MB",
    "plain: s",
    "export: s",
    "ratio",
    "of the fastest",
    "target",
    "server's CPU ratio",
  ];
  const table = makeTable([...head, "first byte: ms"]);
  for (const { name, plain, exported } of results) {
    const ratio = medianOf(exported, "ms") / medianOf(plain, "ms");
    table.push([
      name,
      (exported[0]!.bytes / 1e6).toFixed(0),
      (medianOf(plain, "ms") / 1000).toFixed(3),
      (medianOf(exported, "ms") / 1000).toFixed(3),
      ratio.toFixed(2) + (ratio > MOST_RATIO ? " !" : ""),
      (Math.min(...exported.map(({ ms }) => ms)) / Math.min(...plain.map(({ ms }) => ms))).toFixed(2),
      `≤ ${MOST_RATIO}`,
      (medianOf(exported, "cpuMs") / medianOf(plain, "cpuMs")).toFixed(2),
      medianOf(exported, "firstByteMs").toFixed(0),
    ]);
  }
  say(table.toString());
  say(`on ${cpus().length} × ${cpus()[0]?.model}`);
}

function medianOf(downloads: readonly Downloaded[], key: keyof Downloaded): number {
  const values = downloads.map((each) => each[key]).sort((a, b) => a - b);
  return values[values.length >> 1]!;
}
