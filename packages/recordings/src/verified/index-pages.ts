import { constants, zstdCompressSync } from "node:zlib";
import type { VerifiedRun } from "./verified-run.ts";

/**
 * A page of a verified index: the rows of some thousand runs, and of the channels in each, column by column, because columns
 * compress to a few bytes a row. The frame has a checksum.
 */
export interface RunPage {
  readonly count: number;
  readonly runs: RunColumns;
  readonly channels: ChannelColumns;
}

type RunColumns = ReturnType<typeof createRunColumns>;
type ChannelColumns = ReturnType<typeof createChannelColumns>;

export const runFlags = { chunk: 1, inOrder: 2, trueIndexes: 4, mayPass: 8, damaged: 16 } as const;

/** Stands for no message index. It is the largest number that the column holds. */
export const NO_INDEX: number = 2 ** 32 - 1;

function createRunColumns(room: number) {
  return {
    startsNs: new BigInt64Array(room),
    endsNs: new BigInt64Array(room),
    offsets: new Float64Array(room),
    recordBytes: new Float64Array(room),
    indexesBytes: new Float64Array(room),
    /** Where the compressed bytes begin, counted from the run's offset. */
    dataStarts: new Float64Array(room),
    storedBytes: new Float64Array(room),
    lengths: new Float64Array(room),
    largestBytes: new Uint32Array(room),
    checksums: new Uint32Array(room),
    indexesChecksums: new Uint32Array(room),
    /** The row behind the run's last channel row. */
    channelEnds: new Uint32Array(room),
    /** The number of the compression in the index's list of texts. */
    compressions: new Uint32Array(room),
    flags: new Uint8Array(room),
  };
}

function createChannelColumns(room: number) {
  return {
    startsNs: new BigInt64Array(room),
    endsNs: new BigInt64Array(room),
    messageCounts: new Uint32Array(room),
    recordsBytes: new Float64Array(room),
    lastEnds: new Float64Array(room),
    indexStarts: new Uint32Array(room),
    /** The number of the channel in the index's list of channels. */
    channels: new Uint16Array(room),
  };
}

export interface PageNumbers {
  /** The place of a channel in the index's list. */
  channel(channelId: number): number;
  /** The place of a compression's name. */
  compression(name: string): number;
}

export function encodePage(runs: readonly VerifiedRun[], numbers: PageNumbers): Uint8Array {
  const channelCount = runs.reduce((sum, { channels }) => sum + channels.length, 0);
  const columns = createRunColumns(runs.length);
  const channelColumns = createChannelColumns(channelCount);
  let at = 0;
  for (const [row, run] of runs.entries()) {
    for (const channel of run.channels) {
      channelColumns.startsNs[at] = channel.startNs;
      channelColumns.endsNs[at] = channel.endNs;
      channelColumns.messageCounts[at] = channel.messageCount;
      channelColumns.recordsBytes[at] = channel.recordsBytes;
      channelColumns.lastEnds[at] = channel.lastEnd;
      channelColumns.indexStarts[at] = channel.indexStart < 0 ? NO_INDEX : channel.indexStart;
      channelColumns.channels[at] = numbers.channel(channel.channelId);
      at += 1;
    }
    setRun(columns, row, run);
    columns.channelEnds[row] = at;
    columns.compressions[row] = run.chunk ? numbers.compression(run.chunk.compression) : 0;
  }
  return zstdCompressSync(joinColumns(runs.length, channelCount, [columns, channelColumns]), { params });
}

const params = { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 };

function setRun(columns: RunColumns, row: number, run: VerifiedRun): void {
  const { chunk } = run;
  columns.startsNs[row] = run.startNs;
  columns.endsNs[row] = run.endNs;
  columns.offsets[row] = run.offset;
  columns.recordBytes[row] = run.recordBytes;
  columns.indexesBytes[row] = run.indexesBytes;
  columns.dataStarts[row] = chunk ? chunk.dataOffset - run.offset : 0;
  columns.storedBytes[row] = chunk?.storedBytes ?? run.recordBytes;
  columns.lengths[row] = run.lengthBytes;
  columns.largestBytes[row] = run.largestBytes;
  columns.checksums[row] = run.checksum;
  columns.indexesChecksums[row] = run.indexesChecksum;
  columns.flags[row] = flagsOf(run);
}

function flagsOf({ chunk, isInOrder, hasTrueIndexes, mayPass, damage }: VerifiedRun): number {
  const set = [
    chunk ? runFlags.chunk : 0,
    isInOrder ? runFlags.inOrder : 0,
    hasTrueIndexes ? runFlags.trueIndexes : 0,
    mayPass ? runFlags.mayPass : 0,
    damage ? runFlags.damaged : 0,
  ];
  return set.reduce((sum, flag) => sum + flag, 0);
}

const HEAD_BYTES = 16;

/** The widest columns come first, so that each begins at a multiple of its width. */
function joinColumns(count: number, channelCount: number, tables: readonly object[]): Uint8Array {
  const columns = tables.flatMap((table) => Object.values(table) as ArrayBufferView[]).sort(byWidth);
  const sizeBytes = columns.reduce((sum, { byteLength }) => sum + byteLength, HEAD_BYTES);
  const bytes = new Uint8Array(sizeBytes);
  new DataView(bytes.buffer).setUint32(0, count, true);
  new DataView(bytes.buffer).setUint32(4, channelCount, true);
  let at = HEAD_BYTES;
  for (const { buffer, byteLength } of columns) {
    bytes.set(new Uint8Array(buffer), at);
    at += byteLength;
  }
  return bytes;
}

/** `joined` is the page as it was before it was compressed. */
export function decodePage(joined: Uint8Array): RunPage {
  const own = new Uint8Array(joined).buffer;
  const view = new DataView(own);
  const [count, channelCount] = [view.getUint32(0, true), view.getUint32(4, true)];
  const [runs, channels] = [createRunColumns(count), createChannelColumns(channelCount)];
  const columns = [runs, channels].flatMap((table) => Object.values(table) as ArrayBufferView[]).sort(byWidth);
  let at = HEAD_BYTES;
  for (const column of columns) {
    new Uint8Array(column.buffer).set(new Uint8Array(own, at, column.byteLength));
    at += column.byteLength;
  }
  return { count, runs, channels };
}

function byWidth(a: ArrayBufferView, b: ArrayBufferView): number {
  return widthOf(b) - widthOf(a);
}

function widthOf(column: ArrayBufferView): number {
  return (column as Uint8Array).BYTES_PER_ELEMENT;
}

/** How large a page is before it is compressed. */
export function pageBytes(count: number, channelCount: number): number {
  return HEAD_BYTES + count * runRowBytes + channelCount * channelRowBytes;
}

const runRowBytes = rowBytes(createRunColumns(1));
const channelRowBytes = rowBytes(createChannelColumns(1));

function rowBytes(columns: Record<string, ArrayBufferView>): number {
  return Object.values(columns).reduce((sum, { byteLength }) => sum + byteLength, 0);
}
