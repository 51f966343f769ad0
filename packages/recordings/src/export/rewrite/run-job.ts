import { crc32 } from "node:zlib";
import { combineChecksums } from "../../codecs/combine-checksums.ts";
import type { Compression } from "../../codecs/compress.ts";
import { Decompressor, isPlain } from "../../codecs/decompress.ts";
import { type Reason, RecordingFault } from "../../faults/reasons.ts";
import { indexRecording } from "../../inspect/index-recording.ts";
import { freeMemory, freeOwn } from "../../memory/free-memory.ts";
import type { HoldMemory } from "../../memory/large-memory.ts";
import { type ChunkBuilder, createChunkBuilder, type SealedChunk } from "./chunk-builder.ts";
import type { Fragment } from "./fragment.ts";
import { gatherLarge, type LargePart, type MessageKey } from "./gather-large.ts";
import { type PickedRun, pickMessages } from "./pick-messages.ts";
import { countFitting, filterRun, selectMessages } from "./select-messages.ts";
import { type SentSelection, toQuickSelection } from "./selection.ts";
import {
  ContentChanged,
  createScratch,
  loadRun,
  type ReadRange,
  readStored,
  type StoredBytes,
  type StoredRun,
} from "./stored-run.ts";
import type { ReadFrom } from "./thread-messages.ts";

/** What a worker thread can do. Everything in it can be sent between threads. */
export type Job = PassJob | FilterJob | PickJob | GatherJob | GatherLargeJob | LatestJob | SealJob | IndexJob;

/** Chunks that go into the written file as they are. */
export interface PassJob {
  kind: "pass";
  from: StoredBytes;
  offset: number;
  lengthBytes: number;
  /** One behind the other. */
  chunks: { place: string; recordBytes: number; checksum: number; indexesBytes: number; indexesChecksum: number }[];
}

/** Runs that overlap with nothing, into chunks. */
export interface FilterJob {
  kind: "filter";
  from: StoredBytes;
  runs: StoredRun[];
  selection: SentSelection;
  compression: Compression;
}

/** The same of uncompressed runs of which little is wanted. */
export interface PickJob {
  kind: "pick";
  from: StoredBytes;
  runs: PickedRun[];
  selection: SentSelection;
  compression: Compression;
}

/** A part of one run for merging: what fits into `maxBytes`, but at least one message, after the first `skip`. */
export interface GatherJob {
  kind: "gather";
  from: StoredBytes;
  run: StoredRun;
  selection: SentSelection;
  skip: number;
  maxBytes: number;
}

/** The same of a run that is too large to be held: what comes behind `after`. */
export interface GatherLargeJob {
  kind: "gatherLarge";
  readFrom: ReadFrom;
  run: StoredRun;
  selection: SentSelection;
  after: MessageKey | undefined;
  maxBytes: number;
}

/** The last selected message of each channel. */
export interface LatestJob {
  kind: "latest";
  from: StoredBytes;
  run: StoredRun;
  selection: SentSelection;
}

export interface SealJob {
  kind: "seal";
  fragment: Fragment;
  compression: Compression;
}

/** Reads all of a recording that nobody has indexed. */
export interface IndexJob {
  kind: "index";
  readFrom: ReadFrom;
  sizeBytes: number;
  fileName: string;
  isSalvage: boolean;
}

export interface JobResults {
  pass: { bytes: Uint8Array; checksum: number };
  /** In order; `rest` comes last and is too little for a chunk of its own. */
  filter: { chunks: SealedChunk[]; rest: Fragment };
  pick: { chunks: SealedChunk[]; rest: Fragment };
  gather: { fragment: Fragment; hasMore: boolean };
  gatherLarge: LargePart;
  latest: Fragment;
  seal: SealedChunk;
  index: { index: Uint8Array; refused: Reason | undefined };
}

/** `read`: for jobs that read much, piece by piece. */
export type JobRunner = <J extends Job>(job: J, read: ReadRange) => Promise<JobResults[J["kind"]]>;

/** What is smaller waits for more: a topic that is sparse in its recording would otherwise become tiny chunks. */
const minChunkBytes = 256 * 1024;

/** Keeps memory that its jobs use one after another; asks `hold` for more than that. Throws {@link ContentChanged} where a recording is not what it was. */
export function createJobRunner(hold: HoldMemory): JobRunner {
  const decompress = new Decompressor({ isBlocking: true, hold });
  const scratch = createScratch();
  const builders = new Map<Compression, ChunkBuilder>();
  const means = { decompress, scratch };

  const builderOf = (compression: Compression): ChunkBuilder => {
    const builder = builders.get(compression) ?? createChunkBuilder(compression);
    builders.set(compression, builder);
    return builder;
  };
  const fill = async (compression: Compression, work: (builder: ChunkBuilder, seal: () => void) => Promise<void>) => {
    const chunks: SealedChunk[] = [];
    const builder = builderOf(compression);
    const seal = (): void => void chunks.push(builder.seal());
    await work(builder, seal);
    return { chunks, rest: builder.take() };
  };
  const runners: { [K in Job["kind"]]: (job: Job & { kind: K }, read: ReadRange) => Promise<JobResults[K]> } = {
    pass: async (job) => pass(job),
    filter: ({ compression, from, runs, selection }) =>
      fill(compression, async (builder, onFull) => {
        const quick = toQuickSelection(selection);
        for (const run of runs) {
          builder.reserve(Math.min(run.wantedBytes, run.lengthBytes), run.wantedCount);
          await filterRun({ run, from, means, selection: quick, builder, onFull });
          if (builder.sizeBytes >= minChunkBytes) onFull();
        }
      }),
    pick: ({ compression, from, runs, selection }) =>
      fill(compression, async (builder, onFull) => {
        const quick = toQuickSelection(selection);
        builder.reserve(sumOf(runs, "wantedBytes"), sumOf(runs, "wantedCount"));
        for (const run of runs) pickMessages(run, { from, scratch, selection: quick, builder, onFull });
      }),
    async gather({ from, run, selection, skip, maxBytes }) {
      const loaded = await loadRun(run, from, means);
      const selected = selectMessages(loaded, run, toQuickSelection(selection));
      const builder = builderOf("");
      const first = Math.min(skip, selected.count);
      const to = Math.min(selected.count, first + Math.max(countFitting(selected, first, maxBytes), 1));
      selected.copyTo(builder, first, to);
      if (!isPlain(run.compression)) freeMemory(loaded);
      return { fragment: builder.take(), hasMore: to < selected.count };
    },
    gatherLarge: ({ run, selection, after, maxBytes }, read) =>
      gatherLarge({ run, selection: toQuickSelection(selection), after, maxBytes, read, decompress }),
    async latest({ from, run, selection }) {
      const loaded = await loadRun(run, from, means);
      const selected = selectMessages(loaded, run, toQuickSelection(selection));
      const builder = builderOf("");
      for (const index of selected.lastOfChannels()) selected.copyTo(builder, index, index + 1);
      if (!isPlain(run.compression)) freeMemory(loaded);
      return builder.take();
    },
    async seal({ fragment: { records, starts }, compression }) {
      const builder = builderOf(compression);
      builder.reserve(records.byteLength, starts.length);
      for (const start of starts) builder.mark(start);
      builder.copy(records, 0, records.byteLength);
      freeMemory(records);
      return builder.seal();
    },
    index: (job, read) => index(job, read, hold),
  };
  return async <J extends Job>(job: J, read: ReadRange) => {
    try {
      return await (runners[job.kind] as unknown as (of: J, by: ReadRange) => Promise<JobResults[J["kind"]]>)(
        job,
        read,
      );
    } catch (error) {
      builders.clear(); // what a job that failed had filled
      throw error;
    } finally {
      if ("from" in job && job.kind !== "pass") giveBack(job.from);
    }
  };
}

function sumOf(runs: readonly StoredRun[], name: "wantedBytes" | "wantedCount"): number {
  return runs.reduce((sum, run) => sum + run[name], 0);
}

/** Results are copies, but for what is passed on. */
function giveBack(from: StoredBytes): void {
  if ("bytes" in from) freeOwn(from.bytes);
}

/** Memory of its own: it goes into the written file. */
function pass({ from, offset, lengthBytes, chunks }: PassJob): JobResults["pass"] {
  const own = { take: (sizeBytes: number) => Buffer.allocUnsafeSlow(sizeBytes) };
  const bytes = readStored(from, { offset, length: lengthBytes }, own);
  let checksum = 0;
  let at = 0;
  for (const chunk of chunks) {
    const record = crc32(bytes.subarray(at, at + chunk.recordBytes));
    const indexesAt = at + chunk.recordBytes;
    const indexes = crc32(bytes.subarray(indexesAt, indexesAt + chunk.indexesBytes));
    if (record !== chunk.checksum || indexes !== chunk.indexesChecksum) throw new ContentChanged(chunk.place);
    checksum = combineChecksums(combineChecksums(checksum, record, chunk.recordBytes), indexes, chunk.indexesBytes);
    at = indexesAt + chunk.indexesBytes;
  }
  return { bytes, checksum };
}

async function index(
  { sizeBytes, fileName, isSalvage }: IndexJob,
  read: ReadRange,
  hold: HoldMemory,
): Promise<JobResults["index"]> {
  const pieces: Uint8Array[] = [];
  const write = async (piece: Uint8Array): Promise<void> => void pieces.push(piece);
  const indexed = await indexRecording({ sizeBytes, read }, { fileName, isSalvage, write, hold });
  return { index: Buffer.concat(pieces), refused: "reason" in indexed ? indexed.reason : undefined };
}

/** Errors of content that were not there when it was verified mean that it has changed. */
export function toChange(error: unknown): string | undefined {
  return error instanceof ContentChanged || error instanceof RecordingFault ? error.message : undefined;
}
