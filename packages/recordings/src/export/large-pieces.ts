import { crc32 } from "node:zlib";
import { recordHeadBytes } from "../mcap/opcodes.ts";
import { SourceChangedError } from "../source.ts";
import { maxWrittenChunkBytes } from "../verified/verified-run.ts";
import { loadPart, placeOf, toLoaded, toStored } from "./load-run.ts";
import type { Loaded, Loading } from "./loading.ts";
import type { ChunkFacts } from "./output/mcap-writer.ts";
import type { PlannedRun } from "./plan/open-source.ts";

/**
 * A run that is too large to be held, as it comes out of its decompression: some megabytes at a time. One that is not in order is
 * read again for each part.
 */
export async function* largePieces(run: PlannedRun, loading: Loading): AsyncGenerator<Loaded> {
  if (!run.isInOrder || run.source.formatName !== "mcap") return yield* largeParts(run, loading);
  const { large, lane, compression, signal } = loading;
  const { selection } = run.source;
  using _turn = await large.take(heldBytesOf(run), signal);
  let fedBytes = 0;
  for await (const bytes of wholeRecords(contentOf(run), run)) {
    const { byteLength } = bytes;
    const wantedEnd = Math.min(byteLength, run.wantedEnd - fedBytes);
    const places = {
      offset: 0,
      dataStart: 0,
      recordBytes: byteLength,
      storedBytes: byteLength,
      lengthBytes: byteLength,
    };
    const piece = { ...toStored(run), ...places, compression: "", checksum: crc32(bytes), wantedEnd };
    const from = { bytes, start: 0 };
    fedBytes += byteLength;
    yield* toLoaded(await lane.run({ kind: "filter", from, runs: [piece], selection, compression }));
    if (fedBytes >= run.wantedEnd) return;
  }
}

/** The compressed chunk, and a large message as it is read, copied and compressed. */
function heldBytesOf({ compression, recordBytes, largestBytes }: PlannedRun): number {
  return (compression === "" ? 0 : recordBytes) + (largestBytes > maxWrittenChunkBytes ? 3 * largestBytes : 0);
}

/** A large chunk as it is. */
export async function* passLarge(run: PlannedRun, facts: ChunkFacts): AsyncGenerator<Loaded> {
  const { offset, recordBytes, indexesBytes } = run;
  const { source } = run.source.context;
  let chunks = [facts];
  for (const [start, lengthBytes, checksum] of [
    [offset, recordBytes, run.checksum],
    [offset + recordBytes, indexesBytes, run.indexesChecksum],
  ] as const) {
    let crc = 0;
    for (let done = 0; done < lengthBytes; done += pieceBytes) {
      const bytes = await source.read(start + done, Math.min(pieceBytes, lengthBytes - done));
      crc = crc32(bytes, crc);
      yield { kind: "chunks", bytes, checksum: crc32(bytes), chunks };
      chunks = [];
    }
    if (crc !== checksum) throw changed(run);
  }
}

async function* largeParts(run: PlannedRun, loading: Loading): AsyncGenerator<Loaded> {
  for (let skip = 0, hasMore = true; hasMore; ) {
    const part = await loadPart(run, skip, loading);
    skip += part.fragment.starts.length;
    hasMore = part.hasMore;
    yield { kind: "rest", fragment: part.fragment };
  }
}

/** The decompressed bytes of a chunk whose stored ones are what was verified. */
async function* contentOf(run: PlannedRun): AsyncGenerator<Uint8Array> {
  const { offset, recordBytes, dataStart, storedBytes, compression, lengthBytes } = run;
  const { source, decompress } = run.source.context;
  if (compression === "") {
    let crc = crc32(await source.read(offset, dataStart));
    for (let done = 0; done < storedBytes; done += pieceBytes) {
      const piece = await source.read(offset + dataStart + done, Math.min(pieceBytes, storedBytes - done));
      crc = crc32(piece, crc);
      if (done + pieceBytes >= storedBytes) requireSame(run, crc);
      yield piece;
    }
    return;
  }
  let crc = 0;
  const record: Uint8Array[] = [];
  for (let done = 0; done < recordBytes; done += pieceBytes) {
    const piece = await source.read(offset + done, Math.min(pieceBytes, recordBytes - done));
    crc = crc32(piece, crc);
    record.push(piece);
  }
  requireSame(run, crc);
  const bytes = Buffer.concat(record).subarray(dataStart, dataStart + storedBytes);
  yield* decompress.inPieces({ compression, bytes, uncompressedBytes: lengthBytes, place: placeOf(run) });
}

const pieceBytes = 1024 * 1024;

function requireSame(run: PlannedRun, crc: number): void {
  if (crc !== run.checksum) throw changed(run);
}

function changed(run: PlannedRun): SourceChangedError {
  return new SourceChangedError(`${placeOf(run)} is not what it was when the recording was verified`);
}

/** Puts pieces together and cuts them where records end; each with memory of its own. */
async function* wholeRecords(pieces: AsyncIterable<Uint8Array>, run: PlannedRun): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  /** Until so much is held, no record is whole. */
  let neededBytes = leastPieceBytes;
  for await (const piece of pieces) {
    held.push(piece);
    heldBytes += piece.byteLength;
    if (heldBytes < neededBytes) continue;
    const joined = Buffer.concat(held);
    const { end, next } = findEnd(joined);
    if (end > 0) yield ownBytes(joined, 0, end);
    held = [ownBytes(joined, end, joined.byteLength)];
    heldBytes = joined.byteLength - end;
    neededBytes = Math.max(next, leastPieceBytes);
  }
  const last = Buffer.concat(held);
  if (findEnd(last).end !== last.byteLength) throw changed(run);
  if (last.byteLength > 0) yield ownBytes(last, 0, last.byteLength);
}

const leastPieceBytes = 2 * 1024 * 1024;

function ownBytes(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const own = Buffer.allocUnsafeSlow(end - start);
  own.set(bytes.subarray(start, end));
  return own;
}

/** Where the last whole record ends, and how much the one behind it needs. */
function findEnd(bytes: Buffer): { end: number; next: number } {
  let at = 0;
  while (at + recordHeadBytes <= bytes.byteLength) {
    const sizeBytes = recordHeadBytes + bytes.readUInt32LE(at + 1) + bytes.readUInt32LE(at + 5) * 2 ** 32;
    if (at + sizeBytes > bytes.byteLength) return { end: at, next: sizeBytes };
    at += sizeBytes;
  }
  return { end: at, next: recordHeadBytes };
}
