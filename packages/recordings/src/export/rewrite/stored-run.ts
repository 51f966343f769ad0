import { readSync } from "node:fs";
import { crc32 } from "node:zlib";
import type { Decompressor } from "../../codecs/decompress.ts";
import { RecordingError } from "../../faults/reasons.ts";
import { formats } from "../../formats/formats.ts";
import type { VisitMessages } from "../../reading/record-layout.ts";
import type { RecordingFormatName } from "../../survey/summary.ts";

/** A run as a thread gets it: where it stands, and what the index says of it. */
export interface StoredRun {
  readonly format: RecordingFormatName;
  /** Begins the text of errors. */
  readonly place: string;
  /** Where it begins in the file that the thread reads. */
  readonly offset: number;
  readonly recordBytes: number;
  /** Where the compressed bytes begin, counted from `offset`. */
  readonly dataStart: number;
  readonly storedBytes: number;
  readonly compression: string;
  readonly lengthBytes: number;
  /** CRC-32 of the `recordBytes`. */
  readonly checksum: number;
  readonly isInOrder: boolean;
  /** Whether all of its messages lie in the window. */
  readonly isWithin: boolean;
  readonly wantedCount: number;
  readonly wantedBytes: number;
  /** Nothing behind this place is wanted. */
  readonly wantedEnd: number;
}

/** Answers how to visit the messages of a run, or undefined if its records are those of MCAP. */
export function visitorOf({ format }: StoredRun): VisitMessages | undefined {
  return formats[format].records.visitMessages;
}

/** Where the bytes of runs come from: a file that the thread reads itself, or what was read for it. */
export type StoredBytes = { readonly descriptor: number } | { readonly bytes: Uint8Array; readonly start: number };

/** The bytes are not what they were when the recording was verified. */
export class ContentChangedError extends Error {
  constructor(place: string) {
    super(`${place} is not what it was when the recording was verified`);
    this.name = "ContentChangedError";
  }
}

/** Memory that a thread uses again and again. Its content is valid until memory is taken again. */
export interface Scratch {
  take(sizeBytes: number): Uint8Array;
}

export function createScratch(): Scratch {
  let held = new Uint8Array(0);
  return {
    take(sizeBytes) {
      if (sizeBytes > MOST_HELD_BYTES) return Buffer.allocUnsafeSlow(sizeBytes);
      if (held.byteLength < sizeBytes) held = Buffer.allocUnsafeSlow(Math.min(MOST_HELD_BYTES, 2 * sizeBytes));
      return held.subarray(0, sizeBytes);
    },
  };
}

const MOST_HELD_BYTES = 8 * 1024 * 1024;

/**
 * Reads exactly the bytes of a range. They are valid until memory is taken from the scratch again. A thread reads synchronously, which
 * takes 1.4 µs for a small read; by a promise it takes 8 to 12.
 */
export function readStored(
  from: StoredBytes,
  { offset, length }: { offset: number; length: number },
  scratch: Scratch,
): Uint8Array {
  if ("bytes" in from) return from.bytes.subarray(offset - from.start, offset - from.start + length);
  const into = scratch.take(length);
  for (let filled = 0; filled < into.byteLength; ) {
    const count = readSync(from.descriptor, into, filled, into.byteLength - filled, offset + filled);
    if (count === 0) throw new ContentChangedError(`the file, which ends at byte ${offset + filled},`);
    filled += count;
  }
  return into;
}

/** Answers the decompressed records of a run. Throws {@link ContentChangedError} if its bytes are not what was verified. */
export async function loadRun(
  run: StoredRun,
  from: StoredBytes,
  { decompress, scratch }: { decompress: Decompressor; scratch: Scratch },
): Promise<Uint8Array> {
  const { place, recordBytes, compression, lengthBytes } = run;
  const record = readStored(from, { offset: run.offset, length: recordBytes }, scratch);
  const stored = record.subarray(run.dataStart, run.dataStart + run.storedBytes);
  if (crc32(record) !== run.checksum) throw new ContentChangedError(place);
  const wantedBytes = visitorOf(run) ? lengthBytes : run.wantedEnd;
  return decompress.whole({ compression, bytes: stored, uncompressedBytes: lengthBytes, wantedBytes, place });
}

/** Reads from the recording. */
export type ReadRange = (offset: number, length: number) => Promise<Uint8Array>;

/**
 * Answers the decompressed records of a run piece by piece, in some megabytes of memory, however large the run is. Whether they are what
 * was verified is known at the end: it throws {@link ContentChangedError} then, or earlier if they make no sense.
 */
export async function* contentInPieces(
  run: StoredRun,
  { read, decompress }: { read: ReadRange; decompress: Decompressor },
): AsyncGenerator<Uint8Array> {
  const { compression, lengthBytes: uncompressedBytes, storedBytes, place } = run;
  try {
    yield* decompress.inPieces({ compression, pieces: storedPieces(run, read), storedBytes, uncompressedBytes, place });
  } catch (error) {
    throw error instanceof RecordingError ? new ContentChangedError(place) : error;
  }
}

async function* storedPieces(run: StoredRun, read: ReadRange): AsyncGenerator<Uint8Array> {
  const { offset, recordBytes, dataStart, storedBytes, checksum, place } = run;
  const dataEnd = dataStart + storedBytes;
  let crc = 0;
  for (let done = 0; done < recordBytes; done += PIECE_BYTES) {
    const piece = await read(offset + done, Math.min(PIECE_BYTES, recordBytes - done));
    crc = crc32(piece, crc);
    const isLast = done + piece.byteLength === recordBytes;
    if (isLast && crc !== checksum) throw new ContentChangedError(place);
    const from = Math.max(0, dataStart - done);
    const to = Math.min(piece.byteLength, dataEnd - done);
    if (from < to) yield piece.subarray(from, to);
  }
}

const PIECE_BYTES = 1024 * 1024;
