import { readSync } from "node:fs";
import { crc32 } from "node:zlib";
import type { Decompressor } from "../../codecs/decompress.ts";
import { RecordingFault } from "../../faults/reasons.ts";
import type { RecordingFormatName } from "../../survey/summary.ts";

/** A run as a thread gets it: where it stands, and what the index promises of it. */
export interface StoredRun {
  readonly format: RecordingFormatName;
  /** Begins the text of faults. */
  readonly place: string;
  /** In the file that the thread reads. */
  readonly offset: number;
  readonly recordBytes: number;
  /** Of the compressed bytes, counted from `offset`. */
  readonly dataStart: number;
  readonly storedBytes: number;
  readonly compression: string;
  readonly lengthBytes: number;
  /** Of the `recordBytes`. */
  readonly checksum: number;
  readonly isInOrder: boolean;
  /** All of its messages lie in the window. */
  readonly isWithin: boolean;
  readonly wantedCount: number;
  readonly wantedBytes: number;
  /** Nothing behind it is wanted. */
  readonly wantedEnd: number;
}

/** Where the bytes of runs come from: a file that the thread reads itself, or what was read for it. */
export type StoredBytes = { readonly descriptor: number } | { readonly bytes: Uint8Array; readonly start: number };

/** The bytes are not what they were when the recording was verified. */
export class ContentChanged extends Error {
  constructor(place: string) {
    super(`${place} is not what it was when the recording was verified`);
    this.name = "ContentChanged";
  }
}

/** Memory that a thread uses again and again; what is in it is good until the next is asked for. */
export interface Scratch {
  take(sizeBytes: number): Uint8Array;
}

export function createScratch(): Scratch {
  let held = new Uint8Array(0);
  return {
    take(sizeBytes) {
      if (sizeBytes > mostHeldBytes) return Buffer.allocUnsafeSlow(sizeBytes);
      if (held.byteLength < sizeBytes) held = Buffer.allocUnsafeSlow(Math.min(mostHeldBytes, 2 * sizeBytes));
      return held.subarray(0, sizeBytes);
    },
  };
}

const mostHeldBytes = 8 * 1024 * 1024;

/** Exactly the bytes of a range; valid until the scratch is asked again. */
export function readStored(
  from: StoredBytes,
  { offset, length }: { offset: number; length: number },
  scratch: Scratch,
): Uint8Array {
  if ("bytes" in from) return from.bytes.subarray(offset - from.start, offset - from.start + length);
  const into = scratch.take(length);
  for (let filled = 0; filled < into.byteLength; ) {
    const count = readSync(from.descriptor, into, filled, into.byteLength - filled, offset + filled);
    if (count === 0) throw new ContentChanged(`the file, which ends at byte ${offset + filled},`);
    filled += count;
  }
  return into;
}

/** The decompressed records of a run whose bytes are what was verified. Throws {@link ContentChanged}. */
export async function loadRun(
  run: StoredRun,
  from: StoredBytes,
  { decompress, scratch }: { decompress: Decompressor; scratch: Scratch },
): Promise<Uint8Array> {
  const { place, recordBytes, compression, lengthBytes } = run;
  const record = readStored(from, { offset: run.offset, length: recordBytes }, scratch);
  const stored = record.subarray(run.dataStart, run.dataStart + run.storedBytes);
  if (crc32(record) !== run.checksum) throw new ContentChanged(place);
  // Messages of bags are visited to their end.
  const wantedBytes = run.format === "mcap" ? run.wantedEnd : lengthBytes;
  return decompress.whole({ compression, bytes: stored, uncompressedBytes: lengthBytes, wantedBytes, place });
}

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
