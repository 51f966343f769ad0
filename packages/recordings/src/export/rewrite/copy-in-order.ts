import { crc32 } from "node:zlib";
import { combineChecksums } from "../../codecs/combine-checksums.ts";
import { emptyMessageBytes, opcodes, recordHeadBytes } from "../../mcap/opcodes.ts";
import { maxWrittenChunkBytes } from "../../verified/verified-run.ts";
import type { ChunkBuilder } from "./chunk-builder.ts";
import { type QuickSelection, unwanted } from "./selection.ts";
import { ContentChanged, type StoredRun } from "./stored-run.ts";

export interface Copying {
  run: StoredRun;
  selection: QuickSelection;
  builder: ChunkBuilder;
  onFull: () => void;
  /** Of bytes that are compared with their checksum while they are copied. */
  sum?: RunningSum | undefined;
}

/**
 * Most runs are in order: their messages are copied as they are met, those side by side at once. The loop is seen two million times in
 * a file of small messages; nothing is made in it.
 */
export function copyInOrder(bytes: Uint8Array, { run, selection, builder, onFull, sum }: Copying): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { ids, keepsIds, isInWindow } = selection;
  const { isWithin, wantedEnd, place } = run;
  /** What is copied next, and where its messages begin. */
  let [from, to] = [0, 0];
  const marks = new Uint32Array(Math.min(run.wantedCount, Math.ceil(bytes.byteLength / emptyMessageBytes)));
  let markCount = 0;
  let roomBytes = maxWrittenChunkBytes - builder.sizeBytes;
  for (let at = 0; at < wantedEnd; ) {
    const end = at + recordHeadBytes + view.getUint32(at + 1, true);
    if (end > bytes.byteLength || view.getUint32(at + 5, true) !== 0) throw new ContentChanged(place);
    const id = bytes[at] === opcodes.message ? ids[view.getUint16(at + 9, true)]! : unwanted;
    if (id === unwanted || !(isWithin || isInWindow(view.getUint32(at + 19, true), view.getUint32(at + 15, true)))) {
      at = end;
      continue;
    }
    if (at !== to || end - from > roomBytes) {
      builder.markAll(marks.subarray(0, markCount), from);
      flush(bytes, { start: from, end: to }, { builder, sum });
      markCount = 0;
      from = at;
      roomBytes = maxWrittenChunkBytes - builder.sizeBytes;
      if (end - at > roomBytes && builder.count > 0) {
        onFull();
        roomBytes = maxWrittenChunkBytes;
      }
    }
    if (markCount === marks.length) throw new ContentChanged(place);
    marks[markCount] = at;
    markCount += 1;
    to = end;
    if (!keepsIds) {
      builder.markAll(marks.subarray(0, markCount), from);
      markCount = 0;
      builder.copy(bytes, from, to);
      builder.setChannel(builder.count - 1, id);
      from = to;
      roomBytes = maxWrittenChunkBytes - builder.sizeBytes;
    }
    at = end;
  }
  builder.markAll(marks.subarray(0, markCount), from);
  flush(bytes, { start: from, end: to }, { builder, sum });
}

/** What is summed for the comparison need not be summed again for the written chunk. */
function flush(
  bytes: Uint8Array,
  { start, end }: { start: number; end: number },
  { builder, sum }: Pick<Copying, "builder" | "sum">,
): void {
  if (sum === undefined || end - start < leastSummedBytes) builder.copy(bytes, start, end);
  else builder.copySummed(bytes, { start, end, crc: sum.addPart(start, end) });
}

/** To put two checksums together takes as long as to sum some kilobytes. */
const leastSummedBytes = 16 * 1024;

/** The CRC-32 of a record that is looked at from its beginning to its end; each byte is summed once. */
export interface RunningSum {
  /** The CRC-32 of a part alone, by its places in the data; parts come in their order. */
  addPart(start: number, end: number): number;
  /** Of the whole record. */
  end(): number;
}

/** `dataStart`: where the data begin in the record. */
export function createRunningSum(record: Uint8Array, dataStart: number): RunningSum {
  let crc = 0;
  let summedBytes = 0;
  const sumUpTo = (end: number): void => {
    if (end > summedBytes) crc = crc32(record.subarray(summedBytes, end), crc);
    summedBytes = end;
  };
  return {
    addPart(start, end) {
      sumUpTo(dataStart + start);
      const part = crc32(record.subarray(dataStart + start, dataStart + end));
      crc = combineChecksums(crc, part, end - start);
      summedBytes = dataStart + end;
      return part;
    },
    end() {
      sumUpTo(record.byteLength);
      return crc;
    },
  };
}
