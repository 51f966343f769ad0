import type { Compression } from "../../codecs/compress.ts";
import type { Decompressor } from "../../codecs/decompress.ts";
import { type Reason, RecordingFault } from "../../reasons.ts";
import type { Fragment } from "./fragment.ts";
import { createFragmentBuilder, type FragmentBuilder } from "./fragment-builder.ts";
import { freeMemory } from "./free-memory.ts";
import type { Selected } from "./message-list.ts";
import { type SealedChunk, sealChunk } from "./seal-chunk.ts";
import { type Selection, selectMessages } from "./select-messages.ts";
import { loadPart, type StoredPart } from "./stored-part.ts";
import { refuseUntrueIndexes } from "./verify-indexes.ts";

/** What a worker thread can do. Everything in it can be sent between threads. */
export type Job = FilterJob | GatherJob | SealJob | VerifyJob;

/** Runs that overlap with nothing, into chunks. */
export interface FilterJob {
  kind: "filter";
  bytes: Uint8Array;
  parts: StoredPart[];
  selection: Selection;
  compression: Compression;
}

/** A part of one run for merging: what fits into `maxBytes`, but at least one message, after the first `skip`. */
export interface GatherJob {
  kind: "gather";
  bytes: Uint8Array;
  part: StoredPart;
  selection: Selection;
  skip: number;
  maxBytes: number;
}

export interface SealJob {
  kind: "seal";
  fragment: Fragment;
  compression: Compression;
}

/** Whether chunks are what their checksums and the message indexes behind them say. */
export interface VerifyJob {
  kind: "verify";
  bytes: Uint8Array;
  claims: { index: number; part: StoredPart; indexes: { start: number; end: number } }[];
}

export interface JobResults {
  /** In order; `rest` comes last and is too little for a chunk of its own. `damage`: one entry for each part that failed. */
  filter: { chunks: SealedChunk[]; rest: Fragment; damage: PartDamage[] };
  gather: { fragment: Fragment; hasMore: boolean } | { damage: Reason };
  seal: SealedChunk;
  /** `refuted`: the `index` of each claim that is not true. */
  verify: { bytes: Uint8Array; refuted: number[] };
}

export interface PartDamage {
  /** Into the job's parts. */
  index: number;
  reason: Reason;
}

export async function runJob(job: Job, decompress: Decompressor): Promise<JobResults[Job["kind"]]> {
  if (job.kind === "seal") return sealChunk(job.fragment, job.compression);
  if (job.kind === "filter") return filter(job, decompress);
  if (job.kind === "gather") return gather(job, decompress);
  return verify(job, decompress);
}

/** Wire contract §5: of a chunk that is written anew, uncompressed; a larger message stands alone. */
export const maxChunkBytes: number = 4 * 1024 * 1024;

/** What is smaller waits for more: a topic that is sparse in its recording would otherwise become tiny chunks. */
const minChunkBytes = 256 * 1024;

async function filter(job: FilterJob, decompress: Decompressor): Promise<JobResults["filter"]> {
  const chunks: SealedChunk[] = [];
  const damage: PartDamage[] = [];
  const builder = createFragmentBuilder();
  const seal = (): void => void chunks.push(sealChunk(builder.take(), job.compression));
  for (const [index, part] of job.parts.entries()) {
    try {
      const loaded = await loadPart(part, job.bytes, decompress);
      copyInChunks(selectMessages(loaded, part, job.selection), builder, seal);
      if (loaded.buffer !== job.bytes.buffer) freeMemory(loaded);
      if (builder.sizeBytes >= minChunkBytes) seal();
    } catch (error) {
      damage.push({ index, reason: reasonOf(error) });
    }
  }
  freeMemory(job.bytes);
  return { chunks, rest: builder.take(), damage };
}

function copyInChunks(selected: Selected, builder: FragmentBuilder, seal: () => void): void {
  for (let from = 0; from < selected.count; ) {
    const fitting = countFitting(selected, from, maxChunkBytes - builder.sizeBytes);
    if (fitting === 0 && builder.count > 0) {
      seal();
      continue;
    }
    const to = from + Math.max(fitting, 1);
    selected.copyTo(builder, from, to);
    from = to;
  }
}

/** How many messages from `from` on fit. */
function countFitting(selected: Selected, from: number, roomBytes: number): number {
  let index = from;
  for (let left = roomBytes; index < selected.count; index += 1) {
    left -= selected.sizeOf(index);
    if (left < 0) break;
  }
  return index - from;
}

async function gather(job: GatherJob, decompress: Decompressor): Promise<JobResults["gather"]> {
  const { part, skip } = job;
  try {
    const loaded = await loadPart(part, job.bytes, decompress);
    const selected = selectMessages(loaded, part, job.selection);
    const builder = createFragmentBuilder();
    const from = Math.min(skip, selected.count);
    const to = Math.min(selected.count, from + Math.max(countFitting(selected, from, job.maxBytes), 1));
    selected.copyTo(builder, from, to);
    for (const used of [loaded, job.bytes]) freeMemory(used);
    return { fragment: builder.take(), hasMore: to < selected.count };
  } catch (error) {
    return { damage: reasonOf(error) };
  }
}

async function verify({ bytes, claims }: VerifyJob, decompress: Decompressor): Promise<JobResults["verify"]> {
  const refuted: number[] = [];
  for (const { index, part, indexes } of claims) {
    try {
      const loaded = await loadPart(part, bytes, decompress);
      refuseUntrueIndexes(loaded, bytes.subarray(indexes.start, indexes.end), part);
      if (loaded.buffer !== bytes.buffer) freeMemory(loaded);
    } catch (error) {
      reasonOf(error);
      refuted.push(index);
    }
  }
  return { bytes, refuted };
}

/** Errors of other kinds are the program's, not the recording's. */
function reasonOf(error: unknown): Reason {
  if (error instanceof RecordingFault) return error.reason;
  throw error;
}
