import { crc32 } from "node:zlib";
import { combineChecksums } from "../../codecs/combine-checksums.ts";
import { EMPTY_MESSAGE_BYTES, opcodes, RECORD_HEAD_BYTES } from "../../mcap/opcodes.ts";
import { MAX_WRITTEN_CHUNK_BYTES } from "../../verified/verified-run.ts";
import type { ChunkBuilder } from "./chunk-builder.ts";
import { type QuickSelection, UNWANTED } from "./selection.ts";
import { ContentChangedError, type StoredRun } from "./stored-run.ts";

export interface Copying {
  readonly run: StoredRun;
  readonly selection: QuickSelection;
  readonly builder: ChunkBuilder;
  readonly onFull: () => void;
  /** The checksum of bytes that are compared with it while they are copied. */
  readonly sum?: RunningSum | undefined;
}

/**
 * Copies the selected messages of a run that is in order, as most are. Messages that stand side by side are copied at once. The loop runs
 * two million times for a file of small messages, so nothing is allocated in it.
 */
export function copyInOrder(bytes: Uint8Array, copying: Copying): void {
  const { ids, keepsIds, isInWindow } = copying.selection;
  const { isWithin, wantedEnd, place } = copying.run;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const stretch = new Stretch(bytes, copying);
  for (let at = 0; at < wantedEnd; ) {
    const end = at + RECORD_HEAD_BYTES + view.getUint32(at + 1, true);
    if (end > bytes.byteLength || view.getUint32(at + 5, true) !== 0) throw new ContentChangedError(place);
    const id = bytes[at] === opcodes.message ? ids[view.getUint16(at + 9, true)]! : UNWANTED;
    const isWanted =
      id !== UNWANTED && (isWithin || isInWindow(view.getUint32(at + 19, true), view.getUint32(at + 15, true)));
    if (isWanted && keepsIds) stretch.add(at, end);
    else if (isWanted) copyRenamed(bytes.subarray(at, end), id, copying);
    at = end;
  }
  stretch.copy();
}

function copyRenamed(record: Uint8Array, id: number, { builder, onFull }: Copying): void {
  if (record.byteLength > MAX_WRITTEN_CHUNK_BYTES - builder.sizeBytes && builder.count > 0) onFull();
  builder.mark(0);
  builder.copy(record, 0, record.byteLength);
  builder.setChannel(builder.count - 1, id);
}

/** Messages that stand side by side in a run, until they are copied. */
class Stretch {
  readonly #bytes: Uint8Array;
  readonly #copying: Copying;
  /** Where each message begins. */
  readonly #marks: Uint32Array;
  #markCount = 0;
  #from = 0;
  #to = 0;
  /** How much still fits into the chunk. */
  #roomBytes: number;

  constructor(bytes: Uint8Array, copying: Copying) {
    this.#bytes = bytes;
    this.#copying = copying;
    const mostCount = Math.ceil(bytes.byteLength / EMPTY_MESSAGE_BYTES);
    this.#marks = new Uint32Array(Math.min(copying.run.wantedCount, mostCount));
    this.#roomBytes = MAX_WRITTEN_CHUNK_BYTES - copying.builder.sizeBytes;
  }

  add(at: number, end: number): void {
    if (at !== this.#to || end - this.#from > this.#roomBytes) this.#startOver(at, end);
    if (this.#markCount === this.#marks.length) throw new ContentChangedError(this.#copying.run.place);
    this.#marks[this.#markCount] = at;
    this.#markCount += 1;
    this.#to = end;
  }

  /** Copies the stretch. Bytes that are summed for the comparison need not be summed again for the written chunk. */
  copy(): void {
    const { builder, sum } = this.#copying;
    const start = this.#from;
    const end = this.#to;
    builder.markAll(this.#marks.subarray(0, this.#markCount), start);
    if (sum === undefined || end - start < LEAST_SUMMED_BYTES) builder.copy(this.#bytes, start, end);
    else builder.copySummed(this.#bytes, { start, end, crc: sum.addPart(start, end) });
    this.#markCount = 0;
  }

  #startOver(at: number, end: number): void {
    this.copy();
    this.#from = at;
    const { builder, onFull } = this.#copying;
    if (end - at > MAX_WRITTEN_CHUNK_BYTES - builder.sizeBytes && builder.count > 0) onFull();
    this.#roomBytes = MAX_WRITTEN_CHUNK_BYTES - builder.sizeBytes;
  }
}

/** Combining two checksums takes as long as summing some kilobytes. */
const LEAST_SUMMED_BYTES = 16 * 1024;

/** The CRC-32 of a record that is read from its beginning to its end. Each byte is summed once. */
export interface RunningSum {
  /** Answers the CRC-32 of a part alone, by its places in the data. Parts come in their order. */
  addPart(start: number, end: number): number;
  /** Answers the CRC-32 of the whole record. */
  end(): number;
}

/** `dataStart` is where the data begin in the record. */
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
