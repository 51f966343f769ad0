import { crc32 } from "node:zlib";
import type { Decompressor } from "../../codecs/decompress.ts";
import { RecordingFault } from "../../faults/reasons.ts";
import { ContentChanged, type StoredRun } from "./stored-run.ts";

/** Reads from the recording. */
export type ReadRange = (offset: number, length: number) => Promise<Uint8Array>;

/**
 * The decompressed records of a run piece by piece, in memory of some megabytes however large it is. Whether they are what was verified
 * is known at the end: then it throws {@link ContentChanged}, or before, where they make no sense.
 */
export async function* contentInPieces(
  run: StoredRun,
  { read, decompress }: { read: ReadRange; decompress: Decompressor },
): AsyncGenerator<Uint8Array> {
  const { compression, lengthBytes: uncompressedBytes, storedBytes, place } = run;
  try {
    yield* decompress.inPieces({ compression, pieces: storedPieces(run, read), storedBytes, uncompressedBytes, place });
  } catch (error) {
    throw error instanceof RecordingFault ? new ContentChanged(place) : error;
  }
}

async function* storedPieces(run: StoredRun, read: ReadRange): AsyncGenerator<Uint8Array> {
  const { offset, recordBytes, dataStart, storedBytes, checksum, place } = run;
  const dataEnd = dataStart + storedBytes;
  let crc = 0;
  for (let done = 0; done < recordBytes; done += pieceBytes) {
    const piece = await read(offset + done, Math.min(pieceBytes, recordBytes - done));
    crc = crc32(piece, crc);
    const isLast = done + piece.byteLength === recordBytes;
    if (isLast && crc !== checksum) throw new ContentChanged(place);
    const from = Math.max(0, dataStart - done);
    const to = Math.min(piece.byteLength, dataEnd - done);
    if (from < to) yield piece.subarray(from, to);
  }
}

const pieceBytes = 1024 * 1024;
