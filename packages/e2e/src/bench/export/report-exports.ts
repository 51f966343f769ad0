import { cpus } from "node:os";
import { makeTable } from "../../terminal/make-table.ts";
import { say } from "../report.ts";
import type { Case, Reference } from "./cases.ts";
import type { Measured } from "./child.ts";
import type { PeerMeasured } from "./measure-child.ts";

export interface Result extends Omit<Case, "reference" | "mostRatio"> {
  reference: Reference;
  /** Infinity: the ratio is only reported. */
  mostRatio: number;
  references: (Measured | PeerMeasured)[];
  exports: Measured[];
  /** The same exports in a process whose threads start with the export. */
  coldExports: Measured[];
}

const MOST_RSS_BYTES = 300e6;
const MOST_FIRST_BYTE_MS = 300;

/** `!` marks what misses its target. */
export function reportCases(results: readonly Result[]): void {
  const head = [
    "export",
    "reference",
    "s",
    "export: s",
    "ratio",
    "of the fastest",
    "cold",
    "target",
    "CPU ratio",
    "first byte: ms",
    "peak RSS: MB",
  ];
  const table = makeTable(head);
  for (const { name, reference, references, exports, coldExports, mostRatio } of results) {
    const [referenceMs, ms] = [medianOf(references, "ms"), medianOf(exports, "ms")];
    const firstByteMs = medianOf(exports, "firstByteMs");
    const maxRssBytes = medianOf(exports, "maxRssBytes");
    table.push([
      name,
      reference,
      (referenceMs / 1000).toFixed(3),
      (ms / 1000).toFixed(3),
      (ms / referenceMs).toFixed(2) + markIf(ms / referenceMs > mostRatio),
      (fastestOf(exports) / fastestOf(references)).toFixed(2),
      (medianOf(coldExports, "ms") / referenceMs).toFixed(2),
      Number.isFinite(mostRatio) ? `≤ ${mostRatio}` : "",
      (medianOf(exports, "cpuMs") / medianOf(references, "cpuMs")).toFixed(2),
      firstByteMs.toFixed(0) + markIf(firstByteMs > MOST_FIRST_BYTE_MS),
      (maxRssBytes / 1e6).toFixed(0) + markIf(maxRssBytes > MOST_RSS_BYTES),
    ]);
  }
  say(table.toString());
  for (const { name, references } of results) reportReads(name, references[0]!);
  say(`on ${cpus().length} × ${cpus()[0]?.model}`);
}

/** Shows which of two ways the reference in C++ found faster, if there are two. */
function reportReads(name: string, reference: Measured | PeerMeasured): void {
  if (!("positionalReads" in reference) || reference.positionalReads === 0) return;
  const { wholeChunks, positionalReads } = reference;
  say(`${name}: cpp read ${positionalReads} messages by the message indexes and ${wholeChunks} chunks whole`);
}

export function reportEight({ endsMs, maxRssBytes }: Measured): void {
  const [first, last] = [Math.min(...endsMs), Math.max(...endsMs)];
  const spread = ((100 * (last - first)) / last).toFixed(0);
  const span = `${(first / 1000).toFixed(2)} to ${(last / 1000).toFixed(2)} s`;
  say(`8 exports zstd to lz4 at once: done after ${span} (spread ${spread} %), ${(maxRssBytes / 1e6).toFixed(0)} MB`);
}

export function reportHuge(name: string, { ms, bytes, firstByteMs, maxRssBytes }: Measured): void {
  const speed = `${(bytes / 1e9).toFixed(1)} GB in ${(ms / 1000).toFixed(1)} s`;
  say(`${name}: ${speed}, first byte after ${firstByteMs.toFixed(0)} ms, peak ${(maxRssBytes / 1e6).toFixed(0)} MB`);
}

function medianOf(measured: readonly Measured[], key: Exclude<keyof Measured, "endsMs">): number {
  const values = measured.map((each) => each[key]).sort((a, b) => a - b);
  return values[values.length >> 1]!;
}

/** The fastest run is the one that other load of the machine disturbed least. */
function fastestOf(measured: readonly Measured[]): number {
  return Math.min(...measured.map(({ ms }) => ms));
}

function markIf(isMissed: boolean): string {
  return isMissed ? " !" : "";
}
