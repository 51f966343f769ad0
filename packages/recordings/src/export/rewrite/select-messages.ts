import { type Decompressor, isPlain } from "../../codecs/decompress.ts";
import { opcodes, RECORD_HEAD_BYTES } from "../../mcap/opcodes.ts";
import { growColumn } from "../../memory/columns.ts";
import { freeMemory } from "../../memory/free-memory.ts";
import type { VisitMessages } from "../../reading/record-layout.ts";
import { MAX_WRITTEN_CHUNK_BYTES } from "../../verified/verified-run.ts";
import type { ChunkBuilder } from "./chunk-builder.ts";
import { type Copying, copyInOrder, createRunningSum } from "./copy-in-order.ts";
import { FragmentBuilder } from "./fragment.ts";
import { type QuickSelection, UNWANTED } from "./selection.ts";
import {
  ContentChangedError,
  loadRun,
  readStored,
  type Scratch,
  type StoredBytes,
  type StoredRun,
  visitorOf,
} from "./stored-run.ts";

interface Filtering extends Copying {
  readonly from: StoredBytes;
  readonly means: { readonly decompress: Decompressor; readonly scratch: Scratch };
}

/** Copies the selected messages of a run into chunks. If it throws {@link ContentChangedError}, what was copied until then must not be used. */
export async function filterRun(filtering: Filtering): Promise<void> {
  const { run, from, means, selection } = filtering;
  const isSummedOnce = run.compression === "" && !visitorOf(run) && run.isInOrder && selection.keepsIds;
  if (isSummedOnce) return filterPlain(filtering);
  const loaded = await loadRun(run, from, means);
  copySelected(loaded, filtering);
  if (!isPlain(run.compression)) freeMemory(loaded);
}

/**
 * Copies uncompressed messages and compares them with their checksum at the same time. Changed content may look like anything and make
 * anything fail, so the checksum is compared also after a failure.
 */
function filterPlain(filtering: Filtering): void {
  const { run, from, means } = filtering;
  const record = readStored(from, { offset: run.offset, length: run.recordBytes }, means.scratch);
  const sum = createRunningSum(record, run.dataStart);
  const requireSame = (): void => {
    if (sum.end() !== run.checksum) throw new ContentChangedError(run.place);
  };
  try {
    copyInOrder(record.subarray(run.dataStart, run.dataStart + run.storedBytes), { ...filtering, sum });
  } catch (error) {
    requireSame();
    throw error;
  }
  requireSame();
}

/** The selected messages of one run, in order of log time, those of equal times as in the file. */
export interface Selected {
  readonly count: number;
  sizeOf(index: number): number;
  /** Copies the messages from one up to another. */
  copyTo(builder: ChunkBuilder, from: number, to: number): void;
  /** Answers the last message of each channel, in order. */
  lastOfChannels(): number[];
  /** Gives back the memory that was taken to select the messages. They are of no use afterwards. */
  [Symbol.dispose](): void;
}

/** Copies the selected messages of a run into chunks, and calls `onFull` if the next has no room. */
function copySelected(bytes: Uint8Array, copying: Copying): void {
  if (!visitorOf(copying.run) && copying.run.isInOrder) {
    copyInOrder(bytes, copying);
    return;
  }
  using selected = selectMessages(bytes, copying.run, copying.selection);
  copySorted(selected, copying);
}

function copySorted(selected: Selected, { builder, onFull }: Copying): void {
  for (let from = 0; from < selected.count; ) {
    const fitting = countFitting(selected, from, MAX_WRITTEN_CHUNK_BYTES - builder.sizeBytes);
    if (fitting === 0 && builder.count > 0) {
      onFull();
      continue;
    }
    const to = from + Math.max(1, fitting);
    selected.copyTo(builder, from, to);
    from = to;
  }
}

/** Answers how many messages from `from` on fit. */
export function countFitting(selected: Selected, from: number, roomBytes: number): number {
  let index = from;
  for (let left = roomBytes; index < selected.count; index += 1) {
    left -= selected.sizeOf(index);
    if (left < 0) break;
  }
  return index - from;
}

/** Selects all messages at once, for runs that are not in order, and for parts. */
export function selectMessages(bytes: Uint8Array, run: StoredRun, selection: QuickSelection): Selected {
  const list = createMessageList(run.isInOrder);
  const visit = visitorOf(run);
  if (!visit) {
    list.scan(bytes, run, selection);
    return { ...list.toSelected(bytes, selection), [Symbol.dispose]: () => undefined };
  }
  const records = toMcapRecords(bytes, visit, { run, selection });
  const kept = { ...selection, ids: keepAll, keepsIds: true };
  list.scan(records, { ...run, wantedEnd: records.byteLength }, kept);
  return { ...list.toSelected(records, kept), [Symbol.dispose]: () => freeMemory(records) };
}

/** Records that were encoded have the ids of the written file already. */
const keepAll = Int32Array.from({ length: 65_536 }, (_, id) => id);

/** Encodes messages as they come as records of MCAP, with the ids of the written file. */
export function toMcapRecords(
  bytes: Uint8Array,
  visit: VisitMessages,
  { run, selection }: { run: StoredRun; selection: QuickSelection },
): Uint8Array {
  const builder = new FragmentBuilder();
  builder.reserve(bytes.byteLength); // It is enough for a bag, in which the head of a message is longer.
  visit(bytes, run.place, (message) => {
    const id = selection.idOf(message.channelId);
    if (id !== UNWANTED) builder.addMessage(message, id);
  });
  return builder.take().records;
}

function createMessageList(isInOrder: boolean) {
  let starts = new Uint32Array(256);
  let ends = new Uint32Array(256);
  let count = 0;

  const scan = (bytes: Uint8Array, { isWithin, wantedEnd, place }: StoredRun, selection: QuickSelection): void => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let at = 0; at < wantedEnd; ) {
      const end = at + RECORD_HEAD_BYTES + view.getUint32(at + 1, true) + view.getUint32(at + 5, true) * 2 ** 32;
      if (end > bytes.byteLength) throw new ContentChangedError(place);
      const isWanted = bytes[at] === opcodes.message && selection.ids[view.getUint16(at + 9, true)] !== UNWANTED;
      if (
        isWanted &&
        (isWithin || selection.isInWindow(view.getUint32(at + 19, true), view.getUint32(at + 15, true)))
      ) {
        if (count === starts.length) [starts, ends] = [growColumn(starts), growColumn(ends)];
        starts[count] = at;
        ends[count] = end;
        count += 1;
      }
      at = end;
    }
  };
  const toSelected = (bytes: Uint8Array, selection: QuickSelection): Omit<Selected, typeof Symbol.dispose> => {
    const order = isInOrder ? undefined : sortByTime(bytes, starts, count);
    const rowOf = (index: number): number => (order ? order[index]! : index);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return {
      count,
      lastOfChannels() {
        const last = new Map<number, number>();
        for (let index = 0; index < count; index += 1) {
          last.set(view.getUint16(starts[rowOf(index)]! + RECORD_HEAD_BYTES, true), index);
        }
        return [...last.values()].sort((a, b) => a - b);
      },
      sizeOf: (index) => ends[rowOf(index)]! - starts[rowOf(index)]!,
      copyTo(builder, from, to) {
        for (let index = from; index < to; index += 1) {
          const start = starts[rowOf(index)]!;
          builder.mark(0);
          builder.copy(bytes, start, ends[rowOf(index)]!);
          if (!selection.keepsIds) {
            const channelId = view.getUint16(start + RECORD_HEAD_BYTES, true);
            builder.setChannel(builder.count - 1, selection.ids[channelId]!);
          }
        }
      },
    };
  };
  return { scan, toSelected };
}

/** Sorts rows by time. Rows of equal times stay in their order. */
function sortByTime(bytes: Uint8Array, starts: Uint32Array, count: number): Uint32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const lows = Uint32Array.from({ length: count }, (_, row) =>
    view.getUint32(starts[row]! + RECORD_HEAD_BYTES + 6, true),
  );
  const highs = Uint32Array.from({ length: count }, (_, row) =>
    view.getUint32(starts[row]! + RECORD_HEAD_BYTES + 10, true),
  );
  return Uint32Array.from({ length: count }, (_, row) => row).sort(
    (a, b) => highs[a]! - highs[b]! || lows[a]! - lows[b]! || a - b,
  );
}
