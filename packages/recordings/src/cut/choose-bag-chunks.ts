// The index of a finished bag names where each chunk is, when its messages are, and of which connections. A cut reads those chunks and no
// others: they are put together, with the connections of the index behind them, as a small bag that was never written.

import { readBagHeader, readBagIndex, readIndexRecord } from "../bag1/bag-index.ts";
import { namesAllChunks } from "../bag1/inspect-bag.ts";
import { readData } from "../bag1/record-frame.ts";
import { type BagHeader, textOf, timeOf, u32Of, u64Of } from "../bag1/records.ts";
import { beginBagHead, endBagHead, PADDING_BYTES } from "../export/write-bag/bag-records.ts";
import { RecordingError } from "../faults/reasons.ts";
import { createReadContext, type ReadContext } from "../reading/read-context.ts";
import { openWindowReader } from "../reading/window-reader.ts";
import { joinPieces } from "../sources/joined-source.ts";
import type { RandomAccessSource } from "../sources/source.ts";
import { type CutSelection, toPieces } from "./choose-chunks.ts";

/** Returns a view of a bag that holds only the chunks of a selection; undefined where its index does not name all chunks. */
export async function chooseBagChunks(
  source: RandomAccessSource,
  selection: CutSelection,
  signal: AbortSignal | undefined,
): Promise<RandomAccessSource | undefined> {
  const context = createReadContext(source, { signal });
  try {
    const isWhole = await namesAllChunks(await readBagIndex(context), context);
    return isWhole ? toBag(source, await readChosen(context, selection)) : undefined;
  } catch (error) {
    if (error instanceof RecordingError) return undefined;
    throw error;
  }
}

interface Chosen {
  readonly chunks: readonly { readonly offset: number; readonly lengthBytes: number }[];
  /** The connections stand together at the beginning of the index. */
  readonly connections: { readonly offset: number; readonly lengthBytes: number };
  readonly connectionCount: number;
}

/** There are no chunk infos, so that nothing is believed that they say. */
function toBag(source: RandomAccessSource, { chunks, connections, connectionCount }: Chosen): RandomAccessSource {
  const [head, padding] = [beginBagHead(), Buffer.alloc(PADDING_BYTES, " ")];
  const numbers = { connectionCount, chunkCount: 0 };
  const headBytes = head.byteLength + padding.byteLength + endBagHead({ ...numbers, indexPosition: 0 }).byteLength;
  const indexPosition = chunks.reduce((sum, { lengthBytes }) => sum + lengthBytes, headBytes);
  const end = endBagHead({ ...numbers, indexPosition });
  return joinPieces([head, padding, end, ...toPieces(source, [...chunks, connections])]);
}

/** Reads the index, which was found to be sound, once more. */
async function readChosen(context: ReadContext, selection: CutSelection): Promise<Chosen> {
  const reader = openWindowReader(context);
  const { indexPosition, connectionCount, chunkCount } = await readBagHeader(reader, context);
  const named = selection.topics && new Set(selection.topics);
  const wantedIds = new Set<number>();
  let offset = indexPosition;
  for (let left = connectionCount; left > 0; left -= 1) {
    const { header, end } = await readIndexRecord(offset, { reader, context });
    if (!named || named.has(textOf(header, "topic"))) wantedIds.add(u32Of(header, "conn"));
    offset = end;
  }
  const connections = { offset: indexPosition, lengthBytes: offset - indexPosition };
  const positions: number[] = [];
  const wanted = new Set<number>();
  for (let left = chunkCount; left > 0; left -= 1) {
    const record = await readIndexRecord(offset, { reader, context });
    const position = u64Of(record.header, "chunk_pos");
    positions.push(position);
    const hasTopic = holdsAny(await readData(record, reader, context), wantedIds);
    if (hasTopic && isInTime(record.header, selection)) wanted.add(position);
    offset = record.end;
  }
  return { chunks: rangesOf(positions, wanted, indexPosition), connections, connectionCount };
}

function isInTime(header: BagHeader, { startNs, endNs }: CutSelection): boolean {
  return timeOf(header, "end_time") >= startNs && timeOf(header, "start_time") <= endNs;
}

/** An entry is the number of a connection, and how many messages it has in the chunk. */
function holdsAny(entries: Uint8Array, wantedIds: ReadonlySet<number>): boolean {
  const view = new DataView(entries.buffer, entries.byteOffset, entries.byteLength);
  for (let at = 0; at + ENTRY_BYTES <= entries.byteLength; at += ENTRY_BYTES)
    if (wantedIds.has(view.getUint32(at, true))) return true;
  return false;
}

const ENTRY_BYTES = 8;

/** The records of a chunk end where the next chunk begins, or the index. */
function rangesOf(positions: readonly number[], wanted: ReadonlySet<number>, indexPosition: number): Chosen["chunks"] {
  const ordered = positions.toSorted((one, other) => one - other);
  return ordered.flatMap((offset, at) =>
    wanted.has(offset) ? { offset, lengthBytes: (ordered[at + 1] ?? indexPosition) - offset } : [],
  );
}
