import type { Compression } from "../../codecs/compress.ts";
import type { HoldMemory } from "../../memory/large-memory.ts";
import { SourceChangedError } from "../../sources/source.ts";
import { WHOLE_CHUNK_BYTES } from "../../verified/verified-run.ts";
import type { OpenSource, PlannedRun } from "../plan/planned-source.ts";
import type { Fragment } from "../rewrite/fragment.ts";
import type { JobResults } from "../rewrite/jobs.ts";
import type { RewriteLane } from "../rewrite/rewrite-pool.ts";
import type { StoredBytes, StoredRun } from "../rewrite/stored-run.ts";
import type { ChunkFacts } from "../write-mcap/mcap-writer.ts";
import type { MemoryShare } from "./share-memory.ts";

/** The parts that a step loaded, in the order of the written file. */
export type Loaded =
  | { readonly kind: "opened"; readonly source: OpenSource }
  /** Chunks of the written file, one behind the other in `bytes`, whose CRC-32 is known. */
  | {
      readonly kind: "chunks";
      readonly bytes: Uint8Array;
      readonly checksum: number;
      readonly chunks: readonly ChunkFacts[];
    }
  /** Messages that become a chunk together with what follows. */
  | { readonly kind: "rest"; readonly fragment: Fragment }
  /** The first part of a run that is merged with others. */
  | { readonly kind: "part"; readonly run: PlannedRun; readonly part: RunPart }
  /** A run that is too large to be held: it is loaded piece by piece when its turn comes. */
  | { readonly kind: "pieces"; readonly open: () => AsyncGenerator<Loaded> };

export interface RunPart {
  readonly fragment: Fragment;
  /** Loads the messages behind these; undefined where none are left. */
  readonly next: (() => Promise<RunPart>) | undefined;
  /** The fragment is the head of one message that is too large to be held: its record stands here among the decompressed ones. */
  readonly hugeAt?: number | undefined;
}

/** The state that the steps of one export share. */
export interface Loading {
  readonly lane: RewriteLane;
  readonly compression: Compression;
  readonly memory: MemoryShare;
  readonly hold: HoldMemory;
  /** Does what takes long. Other exports never wait for it. */
  readonly largeLane: RewriteLane;
  /** The generators that are open, which are ended with the export. */
  readonly opened: Set<AsyncGenerator<unknown>>;
  readonly signal: AbortSignal | undefined;
}

export function toLoaded({ chunks, rest }: JobResults["filter"]): Loaded[] {
  const loaded: Loaded[] = chunks.map(({ bytes, checksum, ...facts }) => {
    return { kind: "chunks", bytes, checksum, chunks: [facts] };
  });
  if (rest.starts.length > 0) loaded.push({ kind: "rest", fragment: rest });
  return loaded;
}

/** Loads the messages of a run behind the first `skip` that fit into its share of the memory, but at least one. */
export async function loadPart(run: PlannedRun, skip: number, loading: Loading): Promise<RunPart> {
  const { lane, memory } = loading;
  const from = await bytesOfRun(run);
  const selection = run.source.selection.sent;
  const job = { kind: "gather", from, run: toStored(run), selection, skip, maxBytes: memory.shareBytes() } as const;
  const { fragment, hasMore } = await lane.run(job);
  const given = skip + fragment.starts.length;
  return { fragment, next: hasMore ? () => loadPart(run, given, loading) : undefined };
}

/** Whether a run is so large that only few are held as a whole at once. */
export function isLarge({ lengthBytes, recordBytes }: PlannedRun): boolean {
  return Math.max(lengthBytes, recordBytes) > WHOLE_CHUNK_BYTES;
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
  readonly offset: number;
  readonly lengthBytes: number;
}

/** The range of runs that stand one behind the other, with the message indexes between them. */
export function rangeOf(runs: readonly PlannedRun[]): Range {
  const [first, last] = [runs[0]!, runs.at(-1)!];
  return { offset: first.offset, lengthBytes: last.offset + last.recordBytes + last.indexesBytes - first.offset };
}

export function bytesOfRun(run: PlannedRun): Promise<StoredBytes> {
  return bytesOf([run], rangeOf([run]));
}

/** Threads read files themselves. A source that is no file is read for them. */
export async function bytesOf(runs: readonly PlannedRun[], { offset, lengthBytes }: Range): Promise<StoredBytes> {
  const { source, signal } = runs[0]!.source.context;
  signal?.throwIfAborted();
  if (offset + lengthBytes > source.sizeBytes)
    throw new SourceChangedError(`${placeOf(runs[0]!)} lies behind the end of the file`);
  if (source.descriptor !== undefined) return { descriptor: source.descriptor };
  return { bytes: await source.read(offset, lengthBytes), start: offset };
}
