import { crc32 } from "node:zlib";
import { combineChecksums } from "../../codecs/combine-checksums.ts";
import type { Compression } from "../../codecs/compress.ts";
import { Decompressor, isPlain } from "../../codecs/decompress.ts";
import { RecordingError } from "../../faults/reasons.ts";
import { indexRecording } from "../../inspect/index-recording.ts";
import { freeMemory, freeOwn } from "../../memory/free-memory.ts";
import type { HoldMemory } from "../../memory/large-memory.ts";
import { ChunkBuilder, type SealedChunk } from "./chunk-builder.ts";
import { gatherLarge } from "./gather-large.ts";
import type { FilterJob, GatherJob, IndexJob, Job, JobResults, LatestJob, PassJob, PickJob, SealJob } from "./jobs.ts";
import { pickMessages } from "./pick-messages.ts";
import { countFitting, filterRun, type Selected, selectMessages } from "./select-messages.ts";
import { toQuickSelection } from "./selection.ts";
import {
  ContentChangedError,
  createScratch,
  loadRun,
  type ReadRange,
  readStored,
  type StoredBytes,
  type StoredRun,
} from "./stored-run.ts";

/** Jobs that read much, piece by piece, use `read`. */
export type JobRunner = <J extends Job>(job: J, read: ReadRange) => Promise<JobResults[J["kind"]]>;

/** Fewer bytes wait for more, because a topic that is sparse in its recording would otherwise become tiny chunks. */
const MIN_CHUNK_BYTES = 256 * 1024;

/**
 * Runs jobs one after another in the same memory, and asks `hold` for more than that. Jobs throw {@link ContentChangedError} where a recording is
 * not what it was.
 */
export function createJobRunner(hold: HoldMemory): JobRunner {
  const tools = new Tools(hold);
  return async <J extends Job>(job: J, read: ReadRange) => {
    try {
      return (await runJob(job, tools, read)) as JobResults[J["kind"]];
    } catch (error) {
      tools.forgetChunks();
      throw error;
    } finally {
      if ("from" in job && job.kind !== "pass") giveBack(job.from);
    }
  };
}

/** The memory and tools that the jobs of one thread use one after another. */
class Tools {
  readonly decompress: Decompressor;
  readonly scratch = createScratch();
  readonly hold: HoldMemory;
  readonly #builders = new Map<Compression, ChunkBuilder>();

  constructor(hold: HoldMemory) {
    this.hold = hold;
    this.decompress = new Decompressor({ isBlocking: true, hold });
  }

  builderOf(compression: Compression): ChunkBuilder {
    const builder = this.#builders.get(compression) ?? new ChunkBuilder(compression);
    this.#builders.set(compression, builder);
    return builder;
  }

  /** Forgets what a job that failed had filled. */
  forgetChunks(): void {
    this.#builders.clear();
  }
}

async function runJob(job: Job, tools: Tools, read: ReadRange): Promise<JobResults[Job["kind"]]> {
  switch (job.kind) {
    case "pass":
      return pass(job);
    case "filter":
      return filter(job, tools);
    case "pick":
      return pick(job, tools);
    case "gather":
      return gather(job, tools);
    case "gatherLarge":
      return gatherLarge({ ...job, selection: toQuickSelection(job.selection), read, decompress: tools.decompress });
    case "latest":
      return latest(job, tools);
    case "seal":
      return seal(job, tools);
    case "index":
      return index(job, read, tools.hold);
  }
}

async function filter({ compression, from, runs, selection }: FilterJob, tools: Tools): Promise<JobResults["filter"]> {
  const filling = fillChunks(compression, tools);
  const quick = toQuickSelection(selection);
  const { builder, onFull } = filling;
  for (const run of runs) {
    builder.reserve(Math.min(run.wantedBytes, run.lengthBytes), run.wantedCount);
    await filterRun({ run, from, means: tools, selection: quick, builder, onFull });
    if (builder.sizeBytes >= MIN_CHUNK_BYTES) onFull();
  }
  return filling.end();
}

function pick({ compression, from, runs, selection }: PickJob, tools: Tools): JobResults["pick"] {
  const filling = fillChunks(compression, tools);
  const quick = toQuickSelection(selection);
  const { builder, onFull } = filling;
  builder.reserve(sumOf(runs, "wantedBytes"), sumOf(runs, "wantedCount"));
  for (const run of runs) pickMessages(run, { from, scratch: tools.scratch, selection: quick, builder, onFull });
  return filling.end();
}

/** Chunks that are filled one after another; `onFull` begins the next. */
function fillChunks(compression: Compression, tools: Tools) {
  const chunks: SealedChunk[] = [];
  const builder = tools.builderOf(compression);
  const onFull = (): void => void chunks.push(builder.seal());
  return { builder, onFull, end: () => ({ chunks, rest: builder.take() }) };
}

async function gather(job: GatherJob, tools: Tools): Promise<JobResults["gather"]> {
  const { skip, maxBytes } = job;
  return withSelected(job, tools, (selected, builder) => {
    const first = Math.min(skip, selected.count);
    const to = Math.min(selected.count, first + Math.max(countFitting(selected, first, maxBytes), 1));
    selected.copyTo(builder, first, to);
    return { fragment: builder.take(), hasMore: to < selected.count };
  });
}

async function latest(job: LatestJob, tools: Tools): Promise<JobResults["latest"]> {
  return withSelected(job, tools, (selected, builder) => {
    for (const index of selected.lastOfChannels()) selected.copyTo(builder, index, index + 1);
    return builder.take();
  });
}

/** Answers what `take` makes of the selected messages of one run. */
async function withSelected<T>(
  { from, run, selection }: Pick<GatherJob, "from" | "run" | "selection">,
  tools: Tools,
  take: (selected: Selected, builder: ChunkBuilder) => T,
): Promise<T> {
  const loaded = await loadRun(run, from, tools);
  using selected = selectMessages(loaded, run, toQuickSelection(selection));
  const taken = take(selected, tools.builderOf(""));
  if (!isPlain(run.compression)) freeMemory(loaded);
  return taken;
}

function seal({ fragment: { records, starts }, compression }: SealJob, tools: Tools): SealedChunk {
  const builder = tools.builderOf(compression);
  builder.reserve(records.byteLength, starts.length);
  for (const start of starts) builder.mark(start);
  builder.copy(records, 0, records.byteLength);
  freeMemory(records);
  return builder.seal();
}

function sumOf(runs: readonly StoredRun[], name: "wantedBytes" | "wantedCount"): number {
  return runs.reduce((sum, run) => sum + run[name], 0);
}

/** Gives the memory back that a job read from: results are copies, except for what is passed on. */
function giveBack(from: StoredBytes): void {
  if ("bytes" in from) freeOwn(from.bytes);
}

/** Reads chunks that go into the written file, in memory of their own. */
function pass({ from, offset, lengthBytes, chunks }: PassJob): JobResults["pass"] {
  const own = { take: (sizeBytes: number) => Buffer.allocUnsafeSlow(sizeBytes) };
  const bytes = readStored(from, { offset, length: lengthBytes }, own);
  let checksum = 0;
  let at = 0;
  for (const chunk of chunks) {
    const record = crc32(bytes.subarray(at, at + chunk.recordBytes));
    const indexesAt = at + chunk.recordBytes;
    const indexes = crc32(bytes.subarray(indexesAt, indexesAt + chunk.indexesBytes));
    if (record !== chunk.checksum || indexes !== chunk.indexesChecksum) throw new ContentChangedError(chunk.place);
    checksum = combineChecksums(combineChecksums(checksum, record, chunk.recordBytes), indexes, chunk.indexesBytes);
    at = indexesAt + chunk.indexesBytes;
  }
  return { bytes, checksum };
}

async function index(
  { sizeBytes, fileName, isSalvage, isPart }: IndexJob,
  read: ReadRange,
  hold: HoldMemory,
): Promise<JobResults["index"]> {
  const pieces: Uint8Array[] = [];
  const write = async (piece: Uint8Array): Promise<void> => void pieces.push(piece);
  const indexed = await indexRecording({ sizeBytes, read }, { fileName, isSalvage, isPart, write, hold });
  const index = Buffer.concat(pieces);
  return "reason" in indexed ? { index, refused: indexed.reason } : { index, nextAt: indexed.nextAt };
}

/**
 * Answers the text of an error that means that the content has changed: an error of content that was not there when the recording was
 * verified.
 */
export function toChange(error: unknown): string | undefined {
  return error instanceof ContentChangedError || error instanceof RecordingError ? error.message : undefined;
}
