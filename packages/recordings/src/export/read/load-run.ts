import { SourceChangedError } from "../../sources/source.ts";
import { wholeChunkBytes } from "../../verified/verified-run.ts";
import type { PlannedRun } from "../plan/planned-source.ts";
import type { JobResults } from "../rewrite/run-job.ts";
import type { StoredBytes, StoredRun } from "../rewrite/stored-run.ts";
import type { Loaded, Loading, RunPart } from "./loading.ts";

export function toLoaded({ chunks, rest }: JobResults["filter"]): Loaded[] {
  const loaded: Loaded[] = chunks.map(({ bytes, checksum, ...facts }) => {
    return { kind: "chunks", bytes, checksum, chunks: [facts] };
  });
  if (rest.starts.length > 0) loaded.push({ kind: "rest", fragment: rest });
  return loaded;
}

/** What of a run fits into its share of the memory, but at least one message, after the first `skip`. */
export async function loadPart(run: PlannedRun, skip: number, loading: Loading): Promise<RunPart> {
  const { lane, memory } = loading;
  const from = await bytesOfRun(run);
  const selection = run.source.selection.sent;
  const job = { kind: "gather", from, run: toStored(run), selection, skip, maxBytes: memory.shareBytes() } as const;
  const { fragment, hasMore } = await lane.run(job);
  const given = skip + fragment.starts.length;
  return { fragment, next: hasMore ? () => loadPart(run, given, loading) : undefined };
}

/** Held as a whole only by few at once. */
export function isLarge({ lengthBytes, recordBytes }: PlannedRun): boolean {
  return Math.max(lengthBytes, recordBytes) > wholeChunkBytes;
}

export function toStored(run: PlannedRun): StoredRun {
  const { offset, recordBytes, dataStart, storedBytes, compression, lengthBytes, checksum, isInOrder } = run;
  const { wantedCount, wantedBytes, wantedEnd, source } = run;
  const { startNs = 0n, endNs = 2n ** 63n } = source.selection;
  return {
    format: source.formatName,
    place: placeOf(run),
    offset,
    recordBytes,
    dataStart,
    storedBytes,
    compression,
    lengthBytes,
    checksum,
    isInOrder,
    isWithin: run.startNs >= startNs && run.endNs <= endNs,
    wantedCount,
    wantedBytes,
    wantedEnd,
  };
}

export function placeOf({ source, isChunk, offset }: PlannedRun): string {
  return `${source.fileName}: the ${isChunk ? "chunk" : "message"} at byte ${offset}`;
}

interface Range {
  offset: number;
  lengthBytes: number;
}

/** Of runs that stand one behind the other, with the message indexes between them. */
export function rangeOf(runs: readonly PlannedRun[]): Range {
  const [first, last] = [runs[0]!, runs.at(-1)!];
  return { offset: first.offset, lengthBytes: last.offset + last.recordBytes + last.indexesBytes - first.offset };
}

export function bytesOfRun(run: PlannedRun): Promise<StoredBytes> {
  return bytesOf([run], rangeOf([run]));
}

/** Threads read files themselves; what is no file is read for them. */
export async function bytesOf(runs: readonly PlannedRun[], { offset, lengthBytes }: Range): Promise<StoredBytes> {
  const { source, signal } = runs[0]!.source.context;
  signal?.throwIfAborted();
  if (offset + lengthBytes > source.sizeBytes)
    throw new SourceChangedError(`${placeOf(runs[0]!)} lies behind the end of the file`);
  if (source.descriptor !== undefined) return { descriptor: source.descriptor };
  return { bytes: await source.read(offset, lengthBytes), start: offset };
}
