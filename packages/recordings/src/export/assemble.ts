import { freeOwn } from "../memory/free-memory.ts";
import { MAX_WRITTEN_CHUNK_BYTES } from "../verified/verified-run.ts";
import type { Loaded, Loading, RunPart } from "./load/load-run.ts";
import type { Task } from "./load/run-ahead.ts";
import type { OpenSource, PlannedRun } from "./plan/planned-source.ts";
import { comesBefore, popQueued, pushQueued, type Queued } from "./plan/run-queue.ts";
import { emptyFragment, endOf, type Fragment, FragmentBuilder } from "./rewrite/fragment.ts";
import type { ChunkFacts } from "./write-mcap/mcap-writer.ts";

/** The next piece of the written file. */
export type Output =
  | { readonly kind: "opened"; readonly source: OpenSource }
  | {
      readonly kind: "chunks";
      readonly bytes: Uint8Array;
      readonly checksum: number;
      readonly chunks: readonly ChunkFacts[];
    }
  | { readonly kind: "messages"; readonly fragment: Fragment }
  /** A message that is too large to be held: its record without its data, which come in pieces. */
  | { readonly kind: "huge"; readonly head: Fragment; open(): AsyncGenerator<Uint8Array> };

/** The target of messages that were put in order. */
export interface Finish {
  /** Gets messages that are enough for a chunk. */
  messages(fragment: Fragment): Task<Output>;
  /** Gets a message that is too large to be held. Its record stands at `at` among the decompressed records of its run. */
  huge(run: PlannedRun, at: number, head: Fragment): AsyncGenerator<Output>;
}

/** Puts what was loaded in its order: merges the parts of runs that overlap, and gathers small amounts of messages. */
export async function* assemble(
  loaded: AsyncIterable<Loaded>,
  loading: Loading,
  finish: Finish,
): AsyncGenerator<Task<Output>> {
  const merging: Merging = { cursors: [], filling: new Filling(), loading, finish };
  const { filling } = merging;
  for await (const item of unfold(loaded)) {
    if (item.kind === "opened") {
      yield readyTask(item, 0);
      continue;
    }
    const cursor = item.kind === "part" ? toCursor(item.run, item.part) : undefined;
    yield* mergeUntil(cursor, merging);
    if (cursor) await admit(cursor, merging);
    if (item.kind === "rest") {
      yield* filling.add(item.fragment, 0, item.fragment.starts.length).map(finish.messages);
      freeOwn(item.fragment.records);
    }
    if (item.kind !== "chunks") continue;
    yield* filling.end().map(finish.messages);
    yield readyTask(item, item.bytes.byteLength);
  }
  yield* mergeUntil(undefined, merging);
  yield* filling.end().map(finish.messages);
}

/** Loads runs that are loaded piece by piece. */
async function* unfold(loaded: AsyncIterable<Loaded>): AsyncGenerator<Exclude<Loaded, { kind: "pieces" }>> {
  for await (const item of loaded) {
    if (item.kind === "pieces") yield* unfold(item.open());
    else yield item;
  }
}

/** A run that is being merged; its next message is the one of `part` at `at`. */
interface Cursor extends Queued {
  readonly run: PlannedRun;
  part: RunPart;
  at: number;
}

function toCursor(run: PlannedRun, part: RunPart): Cursor {
  return { run, part, at: 0, nextNs: run.startNs, order: run.order };
}

interface Merging {
  /** A heap, ordered by the next message. */
  readonly cursors: Cursor[];
  readonly filling: Filling;
  readonly loading: Loading;
  readonly finish: Finish;
}

/** Merges everything that comes before the start of the run that is admitted next. */
async function* mergeUntil(limit: Queued | undefined, merging: Merging): AsyncGenerator<Task<Output>> {
  const { cursors, filling, finish } = merging;
  while (cursors[0] && (!limit || comesBefore(cursors[0], limit))) {
    const cursor = popQueued(cursors)!;
    const from = cursor.at;
    cursor.at = endBefore(cursor, earlierOf(cursors[0], limit));
    if (cursor.part.hugeAt === undefined)
      for (const full of filling.add(cursor.part.fragment, from, cursor.at)) yield finish.messages(full);
    else yield* addHuge(cursor.run, cursor.part, merging);
    const left = cursor.part.fragment.timesNs[cursor.at];
    if (left === undefined) await admitNext(cursor, merging);
    else {
      cursor.nextNs = left;
      pushQueued(cursors, cursor);
    }
  }
}

/** Adds a message that stands alone in its chunk, which comes in pieces. */
async function* addHuge(
  run: PlannedRun,
  { hugeAt, fragment }: RunPart,
  { filling, finish }: Merging,
): AsyncGenerator<Task<Output>> {
  yield* filling.end().map(finish.messages);
  for await (const output of finish.huge(run, hugeAt!, fragment))
    yield readyTask(output, output.kind === "chunks" ? output.bytes.byteLength : 0);
}

/** Puts a run into the queue. A run without messages left gives back its memory and its source. */
async function admit(cursor: Cursor, { cursors, loading }: Merging): Promise<void> {
  const { run, part } = cursor;
  const { records, starts, timesNs } = part.fragment;
  loading.memory.hold(run, records.byteLength + starts.byteLength + timesNs.byteLength);
  const nextNs = timesNs[0];
  if (nextNs === undefined) return run.source.release();
  cursor.nextNs = nextNs;
  pushQueued(cursors, cursor);
}

async function admitNext(cursor: Cursor, merging: Merging): Promise<void> {
  const { run, part } = cursor;
  cursor.at = 0;
  freeOwn(part.fragment.records);
  cursor.part = { fragment: emptyFragment, next: undefined };
  merging.loading.memory.hold(run, 0);
  if (part.next) cursor.part = await part.next();
  await admit(cursor, merging);
}

/** Answers the place behind the last message of the part that comes before `limit`. The next message comes before it. */
function endBefore({ part, at, order }: Cursor, limit: Queued | undefined): number {
  const { timesNs } = part.fragment;
  if (!limit) return timesNs.length;
  const { nextNs, order: limitOrder } = limit;
  let end = at + 1;
  for (; end < timesNs.length; end += 1) {
    const timeNs = timesNs[end]!;
    if (timeNs > nextNs || (timeNs === nextNs && order > limitOrder)) break;
  }
  return end;
}

function earlierOf(a: Queued | undefined, b: Queued | undefined): Queued | undefined {
  if (!a || !b) return a ?? b;
  return comesBefore(a, b) ? a : b;
}

function readyTask(output: Output, weightBytes: number): Task<Output> {
  return { weightBytes, run: async () => output };
}

/** The chunk that is being filled. Full chunks are given one by one, because all chunks of a part at once would take its memory again. */
class Filling {
  readonly #builder = new FragmentBuilder();

  /** Adds the messages `from` up to `to` of a fragment. */
  *add(fragment: Fragment, from: number, to: number): Generator<Fragment> {
    for (let index = from; index < to; ) {
      const next = this.#endOfFitting(fragment, index, to);
      if (this.#isTooMuch(endOf(fragment, next - 1) - fragment.starts[index]!)) yield* this.end();
      this.#builder.addFrom(fragment, index, next);
      index = next;
      if (this.#builder.sizeBytes >= FULL_CHUNK_BYTES) yield* this.end();
    }
  }

  end(): Fragment[] {
    return this.#builder.count > 0 ? [this.#builder.take()] : [];
  }

  /** Answers the place behind the last message that fits, but behind one message at least. */
  #endOfFitting(fragment: Fragment, from: number, to: number): number {
    const room = FULL_CHUNK_BYTES - this.#builder.sizeBytes;
    const start = fragment.starts[from]!;
    let next = from;
    while (next < to && endOf(fragment, next) - start <= room) next += 1;
    return Math.max(next, from + 1);
  }

  #isTooMuch(moreBytes: number): boolean {
    return this.#builder.sizeBytes + moreBytes > MAX_WRITTEN_CHUNK_BYTES;
  }
}

/** A chunk of messages from several places is full at this size. */
const FULL_CHUNK_BYTES = 1024 * 1024;
