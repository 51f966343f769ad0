import { refuseLargeChunk } from "../chunk.ts";
import { openCursor } from "../field-cursor.ts";
import { opcodes, recordHeadBytes } from "../mcap/opcodes.ts";
import { parseRecordHead } from "../mcap/record-head.ts";
import { readChunkHead } from "../mcap/records.ts";
import { placeOfRun } from "../message-run.ts";
import { RecordingFault } from "../reasons.ts";
import { refuseBeyond } from "../window-reader.ts";
import type { PlannedRun } from "./plan/open-source.ts";
import type { StoredPart } from "./rewrite/stored-part.ts";

/** Runs of one source that stand one behind the other, with the message indexes behind each if they are told. */
export async function readRuns(runs: readonly PlannedRun[]): Promise<Uint8Array> {
  const [first, last] = [runs[0]!, runs.at(-1)!];
  const { source, signal, limits } = first.source.context;
  const offset = startOf(first);
  const length = startOf(last) + lengthOf(last) - offset;
  signal?.throwIfAborted();
  for (const run of runs) refuseLarge(run, limits.maxChunkBytes);
  refuseBeyond({ offset, length, sizeBytes: source.sizeBytes });
  return source.read(offset, length);
}

/** Where a run begins among the bytes that were read for it and others. */
export function placeIn(runs: readonly PlannedRun[], run: PlannedRun): number {
  return startOf(run) - startOf(runs[0]!);
}

/** Faults with `BadChunk` when there is no chunk, or another one than the chunk index tells of. */
export function toPart(run: PlannedRun, bytes: Uint8Array, start: number): StoredPart {
  const { chunk, indexed, startNs, endNs, source } = run;
  const about = { format: source.format.name, place: placeOfRun(run), startNs, endNs };
  if (!chunk) {
    return {
      ...about,
      start,
      storedBytes: run.lengthBytes,
      compression: "",
      uncompressedBytes: run.lengthBytes,
      crc: 0,
    };
  }
  const { storedBytes, uncompressedBytes, compression, crc } = chunk;
  if (!indexed) return { ...about, start, storedBytes, compression, uncompressedBytes, crc };
  const head = readHead(run, bytes.subarray(start, start + indexed.chunkBytes));
  const dataStart = start + head.dataOffset;
  return { ...about, start: dataStart, storedBytes, compression, uncompressedBytes, crc: head.crc };
}

function readHead(run: PlannedRun, record: Uint8Array): { dataOffset: number; crc: number } {
  const { chunk, startNs, endNs } = run;
  const place = placeOfRun(run);
  const { opcode, end } = parseRecordHead(record, 0, record.byteLength);
  if (opcode === opcodes.chunk && end === record.byteLength) {
    const head = readChunkHead(openCursor(record.subarray(recordHeadBytes), place, "BadChunk"), recordHeadBytes);
    const isSame =
      head.startNs === startNs &&
      head.endNs === endNs &&
      head.compression === chunk!.compression &&
      head.uncompressedBytes === chunk!.uncompressedBytes &&
      head.storedBytes === chunk!.storedBytes &&
      head.dataOffset + head.storedBytes === record.byteLength;
    if (isSame) return head;
  }
  throw new RecordingFault("BadChunk", `${place} is not what the summary says of it; the file is damaged there`);
}

function refuseLarge({ chunk, lengthBytes }: PlannedRun, maxBytes: number): void {
  if (chunk) refuseLargeChunk(chunk, maxBytes);
  else if (lengthBytes > maxBytes) {
    throw new RecordingFault("RecordTooLarge", `a message is ${lengthBytes} bytes large; at most ${maxBytes} are read`);
  }
}

function startOf({ chunk, indexed, offset }: PlannedRun): number {
  return chunk && !indexed ? chunk.dataOffset : offset;
}

function lengthOf({ chunk, indexed, lengthBytes }: PlannedRun): number {
  if (indexed) return indexed.chunkBytes + indexed.indexesBytes;
  return chunk ? chunk.storedBytes : lengthBytes;
}
