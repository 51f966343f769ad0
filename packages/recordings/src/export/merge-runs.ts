import { loadRun, type MessageRun, placeOfRun, type RawMessage } from "../message-run.ts";
import type { ReadContext } from "../read-context.ts";
import { RecordingFault } from "../reasons.ts";
import type { ExportPlan } from "./plan-export.ts";
import { comesBefore, popQueued, pushQueued, type Queued } from "./run-queue.ts";

/**
 * The selected messages in order of log time, equal times in file order; in batches.
 *
 * Memory: runs that overlap in time share one budget. A run larger than its share is buffered in parts and loaded again
 * for the next part: a file whose chunks all overlap costs time, not memory.
 */
export async function* mergeRuns(
  plan: ExportPlan,
  context: ReadContext,
  budgetBytes: number = defaultBudgetBytes,
): AsyncGenerator<RawMessage[]> {
  const waiting = toCursors(plan.runs);
  const shareBytes = Math.max(minShareBytes, Math.floor(budgetBytes / countOverlapping(plan.runs)));
  const open: RunCursor[] = [];
  let admitted = 0;
  while (true) {
    while (admitted < waiting.length && (open.length === 0 || !comesBefore(open[0]!, waiting[admitted]!))) {
      pushQueued(open, waiting[admitted]!);
      admitted += 1;
    }
    const cursor = popQueued(open);
    if (!cursor) return;
    if (cursor.buffer.length > 0) yield takeBefore(cursor, earlierOf(open[0], waiting[admitted]));
    else await refill(cursor, { plan, context, shareBytes });
    if (cursor.buffer.length > 0 || cursor.hasMore) pushQueued(open, cursor);
  }
}

const defaultBudgetBytes = 128 * 1024 * 1024;
const minShareBytes = 4 * 1024;
const maxOverlapping = 50_000;

interface RunCursor extends Queued {
  run: MessageRun;
  /** Of its selected messages in order of time, how many have been buffered so far. */
  taken: number;
  buffer: RawMessage[];
  /** Of the first message in the buffer that was not given out. */
  at: number;
  /** Whether there are messages behind the buffer. */
  hasMore: boolean;
}

function toCursors(runs: readonly MessageRun[]): RunCursor[] {
  return runs
    .map((run, order) => ({ run, order, nextNs: run.startNs, taken: 0, buffer: [], at: 0, hasMore: true }))
    .sort((a, b) => (comesBefore(a, b) ? -1 : 1));
}

/** The largest number of runs that have a moment in common. */
function countOverlapping(runs: readonly MessageRun[]): number {
  const starts = BigInt64Array.from(runs, ({ startNs }) => startNs).sort();
  const ends = BigInt64Array.from(runs, ({ endNs }) => endNs).sort();
  let ended = 0;
  let most = 1;
  for (let started = 0; started < starts.length; started += 1) {
    while (ends[ended]! < starts[started]!) ended += 1;
    most = Math.max(most, started + 1 - ended);
  }
  if (most <= maxOverlapping) return most;
  const text = `more than ${maxOverlapping} chunks overlap in time; the recording cannot be put in order in bounded memory`;
  throw new RecordingFault("TooManyRecords", text);
}

interface Refilling {
  plan: ExportPlan;
  context: ReadContext;
  shareBytes: number;
}

/** Buffers the next part of a run: whole if it fits into its share, else as copies, so that the rest can be freed. */
async function refill(cursor: RunCursor, { plan, context, shareBytes }: Refilling): Promise<void> {
  const { run } = cursor;
  const left = selectInOrder(run, await loadRun(run, context), plan).slice(cursor.taken);
  const isSmall = run.lengthBytes <= shareBytes;
  cursor.buffer = isSmall ? left : takeCopies(left, shareBytes);
  cursor.taken += cursor.buffer.length;
  cursor.hasMore = cursor.buffer.length < left.length;
  if (left[0]) cursor.nextNs = left[0].logTimeNs;
}

function selectInOrder(run: MessageRun, bytes: Uint8Array, { format, survey, isSelected }: ExportPlan): RawMessage[] {
  const messages: RawMessage[] = [];
  let isInOrder = true;
  let lastNs = run.startNs;
  const place = placeOfRun(run);
  format.visitMessages(bytes, place, (message) => {
    const { channelId, logTimeNs } = message;
    if (logTimeNs < run.startNs || logTimeNs > run.endNs || !survey.channels.has(channelId)) {
      throw new RecordingFault(
        "BadChunk",
        `${place} holds messages that its index does not tell of; the file is damaged there`,
      );
    }
    if (!isSelected(channelId, logTimeNs)) return;
    if (logTimeNs < lastNs) isInOrder = false;
    lastNs = logTimeNs;
    messages.push(message);
  });
  // Stable: messages of one time stay in file order.
  return isInOrder ? messages : messages.sort((a, b) => Number(a.logTimeNs - b.logTimeNs));
}

/** At least one message. */
function takeCopies(messages: readonly RawMessage[], mostBytes: number): RawMessage[] {
  const copies: RawMessage[] = [];
  let bytes = 0;
  for (const message of messages) {
    bytes += message.data.byteLength + messageOverheadBytes;
    if (bytes > mostBytes && copies.length > 0) break;
    copies.push({ ...message, data: new Uint8Array(message.data) });
  }
  return copies;
}

/** What a message costs in memory besides its data. */
const messageOverheadBytes = 250;

/** What the cursor holds of the time before `limit`: at least its next message. */
function takeBefore(cursor: RunCursor, limit: Queued | undefined): RawMessage[] {
  const { buffer, order, at } = cursor;
  let end = at + 1;
  while (end < buffer.length && (!limit || comesBefore({ nextNs: buffer[end]!.logTimeNs, order }, limit))) end += 1;
  const batch = buffer.slice(at, end);
  cursor.at = end < buffer.length ? end : 0;
  if (end === buffer.length) cursor.buffer = [];
  // Of messages behind the buffer only this is known: they are not earlier than the last one before them.
  cursor.nextNs = cursor.buffer[cursor.at]?.logTimeNs ?? batch.at(-1)!.logTimeNs;
  return batch;
}

function earlierOf(a: Queued | undefined, b: Queued | undefined): Queued | undefined {
  if (!a || !b) return a ?? b;
  return comesBefore(a, b) ? a : b;
}
