import { copyColumns, growColumn, numberOf } from "../memory/columns.ts";
import type { ChunkIndex } from "./records.ts";

/** The chunk indexes of a summary. Each takes some sixty bytes, because there may be a million. */
export interface ChunkTable {
  readonly length: number;
  add(index: ChunkIndex): void;
  /** The chunk indexes by their places in the file. Each object is made when its turn comes. */
  inOrder(): Generator<ChunkIndex>;
}

export function createChunkTable(): ChunkTable {
  let columns = createColumns(64);
  let channelIds = new Uint16Array(256);
  const compressions: string[] = [];
  let count = 0;
  let channelCount = 0;

  const add = (index: ChunkIndex): void => {
    if (count === columns.startsNs.length) columns = copyColumns(columns, createColumns(2 * count));
    const idCount = channelCount + index.channelIds.length;
    if (idCount > channelIds.length) channelIds = growColumn(channelIds, idCount);
    columns.startsNs[count] = index.startNs;
    columns.endsNs[count] = index.endNs;
    columns.offsets[count] = index.offset;
    columns.lengths[count] = index.lengthBytes;
    columns.chunkBytes[count] = index.chunkBytes;
    columns.storedBytes[count] = index.storedBytes;
    columns.uncompressedBytes[count] = index.uncompressedBytes;
    columns.compressions[count] = numberOf(compressions, index.compression);
    channelIds.set(index.channelIds, channelCount);
    channelCount = idCount;
    columns.channelEnds[count] = channelCount;
    count += 1;
  };
  const at = (row: number): ChunkIndex => ({
    startNs: columns.startsNs[row]!,
    endNs: columns.endsNs[row]!,
    offset: columns.offsets[row]!,
    lengthBytes: columns.lengths[row]!,
    chunkBytes: columns.chunkBytes[row]!,
    channelIds: [...channelIds.subarray(columns.channelEnds[row - 1] ?? 0, columns.channelEnds[row])],
    compression: compressions[columns.compressions[row]!]!,
    storedBytes: columns.storedBytes[row]!,
    uncompressedBytes: columns.uncompressedBytes[row]!,
  });
  return {
    get length() {
      return count;
    },
    add,
    *inOrder() {
      const { offsets } = columns;
      const rows = Uint32Array.from({ length: count }, (_, row) => row).sort((a, b) => offsets[a]! - offsets[b]!);
      for (const row of rows) yield at(row);
    },
  };
}

function createColumns(room: number) {
  return {
    startsNs: new BigUint64Array(room),
    endsNs: new BigUint64Array(room),
    offsets: new Float64Array(room),
    lengths: new Float64Array(room),
    chunkBytes: new Float64Array(room),
    storedBytes: new Float64Array(room),
    uncompressedBytes: new Float64Array(room),
    /** The number of the compression in the list of texts. */
    compressions: new Uint32Array(room),
    /** The row behind the chunk's last channel id. */
    channelEnds: new Uint32Array(room),
  };
}
