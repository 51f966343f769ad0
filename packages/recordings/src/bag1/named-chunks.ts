import { RecordingError } from "../faults/reasons.ts";
import type { ReadContext } from "../reading/read-context.ts";
import { openWindowReader } from "../reading/window-reader.ts";
import type { BagIndex } from "./bag-index.ts";
import { type RecordReading, readRecord } from "./record-frame.ts";
import { magic, opcodeOf, opcodes } from "./records.ts";

/**
 * Whether no chunk stands before the first or behind the last one that the index of a bag names, as repaired bags have them. Between two
 * chunks it would take a read for each to see that.
 */
export async function namesAllChunks(index: BagIndex, context: ReadContext): Promise<boolean> {
  const reading = { context, reader: openWindowReader(context), code: "BadSummary" } as const;
  const { indexPosition, firstChunk, lastChunk } = index;
  try {
    const from = (await readRecord(magic.byteLength, reading)).end;
    if (!(await isFilled({ from, to: Math.min(firstChunk, indexPosition), chunkCount: 0 }, reading))) return false;
    return lastChunk < 0 || (await isFilled({ from: lastChunk, to: indexPosition, chunkCount: 1 }, reading));
  } catch (error) {
    if (error instanceof RecordingError) return false;
    throw error;
  }
}

/** A part of a file, and the chunks that may stand in it. */
interface Part {
  readonly from: number;
  readonly to: number;
  readonly chunkCount: number;
}

/** Whether whole records fill the part. */
async function isFilled({ from, to, chunkCount }: Part, reading: RecordReading): Promise<boolean> {
  let [offset, chunks] = [from, 0];
  for (let left = MOST_RECORDS; offset < to && left > 0; left -= 1) {
    const { header, end } = await readRecord(offset, reading);
    if (opcodeOf(header) === opcodes.chunk) chunks += 1;
    if (chunks > chunkCount) return false;
    offset = end;
  }
  return offset === to;
}

/** One chunk has at most as many index data records as connections. */
const MOST_RECORDS = 100_000;
