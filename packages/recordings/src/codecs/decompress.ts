import { promisify } from "node:util";
import { createZstdDecompress, zstdDecompress, zstdDecompressSync } from "node:zlib";
import type Bzip2 from "@foxglove/wasm-bz2";
import { RecordingFault } from "../reasons.ts";
import { loadBzip2 } from "./load-bzip2.ts";
import { loadLz4 } from "./load-lz4.ts";
import { findLz4Frames, type Lz4Frame, readBlockHead } from "./lz4-frames.ts";
import { findZstdFrames, type ZstdFrame } from "./zstd-frames.ts";

/** `place` begins the fault's text, e.g. "the chunk at byte 412". */
export interface CompressedBytes {
  compression: string;
  bytes: Uint8Array;
  uncompressedBytes: number;
  place: string;
}

/**
 * Decompresses chunks to exactly the size they promised, or faults with `BadChunk` or `UnknownCompression`. Make one per recording: the
 * bzip2 module keeps its memory for as long as it lives.
 */
export interface Decompressor {
  (input: CompressedBytes): Promise<Uint8Array>;
  /** The same in pieces of some megabytes at most, for who need not have it whole; of bzip2, which knows no pieces, one. */
  inPieces(input: CompressedBytes): AsyncGenerator<Uint8Array>;
}

/** `isBlocking`: for worker threads, which gain nothing by handing the work to yet another thread. */
export function createDecompressor({ isBlocking = false } = {}): Decompressor {
  let bzip2: Promise<Bzip2> | undefined;
  const whole = async (input: CompressedBytes): Promise<Uint8Array> => {
    const compression = knownOf(input);
    if (compression === "" || compression === "none") return checkLength(input, input.bytes);
    if (input.uncompressedBytes === 0) return new Uint8Array(0);
    if (compression === "bz2") bzip2 ??= loadBzip2();
    try {
      return checkLength(input, await decompressWith({ ...input, compression }, { bzip2: await bzip2, isBlocking }));
    } catch (error) {
      throw toFault(error, input);
    }
  };
  async function* inPieces(input: CompressedBytes): AsyncGenerator<Uint8Array> {
    const compression = knownOf(input);
    if (compression !== "zstd" && compression !== "lz4") return yield await whole(input);
    let leftBytes = input.uncompressedBytes;
    try {
      for await (const piece of compression === "zstd" ? unzstdPieces(input.bytes) : unlz4Pieces(input.bytes)) {
        leftBytes -= piece.byteLength;
        if (leftBytes < 0) throw new Error("larger than its header says");
        yield piece;
      }
    } catch (error) {
      throw toFault(error, input);
    }
    if (leftBytes > 0) throw wrongLength(input, input.uncompressedBytes - leftBytes);
  }
  return Object.assign(whole, { inPieces });
}

const known = ["", "none", "zstd", "lz4", "bz2"] as const;
type KnownCompression = (typeof known)[number];

export function isKnownCompression(name: string): name is KnownCompression {
  return (known as readonly string[]).includes(name);
}

function knownOf({ compression, place }: CompressedBytes): KnownCompression {
  if (isKnownCompression(compression)) return compression;
  const name = compression.slice(0, 32);
  const text = `${place} is compressed with "${name}", which is not read; convert the file to lz4 or zstd`;
  throw new RecordingFault("UnknownCompression", text);
}

/** Whether nothing but one frame is there: what other readers are sure to read. */
export function isOneFrame(compression: string, bytes: Uint8Array): boolean {
  if (compression === "") return true;
  const frames = compression === "zstd" ? findZstdFrames(bytes) : findLz4Frames(bytes);
  return frames.length === 1 && frames[0]!.start === 0 && frames[0]!.end === bytes.byteLength;
}

interface Means {
  bzip2: Bzip2 | undefined;
  isBlocking: boolean;
}

async function decompressWith(
  { compression, bytes, uncompressedBytes }: CompressedBytes & { compression: "zstd" | "lz4" | "bz2" },
  { bzip2, isBlocking }: Means,
): Promise<Uint8Array> {
  if (compression === "bz2") return bzip2!.decompress(bytes, uncompressedBytes);
  const frames = compression === "zstd" ? findZstdFrames(bytes) : findLz4Frames(bytes);
  if (frames.length === 0) throw new Error("not a whole frame");
  const parts: Uint8Array[] = [];
  let leftBytes = uncompressedBytes;
  for (const frame of frames) {
    const part = bytes.subarray(frame.start, frame.end);
    const output = isLz4(frame)
      ? await unlz4(part, frame, { leftBytes, isBlocking })
      : await unzstd(part, { leftBytes, isBlocking });
    leftBytes -= output.byteLength;
    parts.push(output);
  }
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}

function isLz4(frame: ZstdFrame | Lz4Frame): frame is Lz4Frame {
  return "mostBytes" in frame;
}

interface Bounds {
  leftBytes: number;
  isBlocking: boolean;
}

async function unzstd(frame: Uint8Array, { leftBytes, isBlocking }: Bounds): Promise<Uint8Array> {
  // One byte more than needed: a full buffer would make the decoder get itself another.
  const chunkSize = Math.min(Math.max(leftBytes + 1, 64), 8 * 1024 * 1024);
  const options = { maxOutputLength: Math.max(leftBytes, 1), chunkSize };
  return isBlocking ? zstdDecompressSync(frame, options) : unzstdAside(frame, options);
}

const unzstdAside = promisify(zstdDecompress);

async function unlz4(bytes: Uint8Array, frame: Lz4Frame, { leftBytes, isBlocking }: Bounds): Promise<Uint8Array> {
  if (frame.mostBytes > leftBytes + lz4SlackBytes) throw new Error("larger than its header says");
  if (!isBlocking) return loadLz4().decompressFrame(bytes);
  return loadLz4().decompressFrameSync(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}

/** The bound of a frame exceeds its content by the unfilled rest of each block; flushed frames have many. */
const lz4SlackBytes = 256 * 1024 * 1024;

async function* unzstdPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  const frames = findZstdFrames(bytes);
  if (frames.length === 0) throw new Error("not a whole frame");
  for (const { start, end } of frames) {
    const stream = createZstdDecompress({ chunkSize: pieceBytes });
    stream.end(bytes.subarray(start, end));
    yield* stream as AsyncIterable<Uint8Array>;
  }
}

const pieceBytes = 1024 * 1024;

/** Block by block; the library reads a block behind its size, and what it refers to as a dictionary. */
async function* unlz4Pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  const frames = findLz4Frames(bytes);
  if (frames.length === 0) throw new Error("not a whole frame");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (const { blocksStart, blockMaxBytes, blockTrailerBytes, isLinked } of frames) {
    let before: Uint8Array = new Uint8Array(0);
    for (let at = blocksStart; view.getUint32(at, true) !== 0; ) {
      const { storedBytes, isStored } = readBlockHead(view.getUint32(at, true));
      const stored = bytes.subarray(at + 4, at + 4 + storedBytes);
      const piece = isStored ? stored : unlz4Block(stored, blockMaxBytes, before);
      if (isLinked) before = lastOf(before, piece);
      yield piece;
      at += 4 + storedBytes + blockTrailerBytes;
    }
  }
}

function unlz4Block(stored: Uint8Array, mostBytes: number, before: Uint8Array): Uint8Array {
  const input = Buffer.allocUnsafe(4 + stored.byteLength);
  input.writeUInt32LE(mostBytes, 0);
  input.set(stored, 4);
  return loadLz4().uncompressSync(input, before.byteLength > 0 ? before : undefined);
}

/** How far blocks refer back. */
const linkedBytes = 64 * 1024;

function lastOf(before: Uint8Array, piece: Uint8Array): Uint8Array {
  if (piece.byteLength >= linkedBytes) return new Uint8Array(piece.subarray(-linkedBytes));
  return Buffer.concat([before, piece]).subarray(-linkedBytes);
}

/** Decoders throw plain errors without a class: whatever they throw means that the bytes are not theirs. */
function toFault(error: unknown, { place, compression }: CompressedBytes): RecordingFault {
  if (error instanceof RecordingFault) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new RecordingFault("BadChunk", `${place} does not decompress (${compression}: ${detail})`);
}

function checkLength(input: CompressedBytes, output: Uint8Array): Uint8Array {
  if (output.byteLength === input.uncompressedBytes) return output;
  throw wrongLength(input, output.byteLength);
}

function wrongLength({ place, uncompressedBytes }: CompressedBytes, bytes: number): RecordingFault {
  const promised = `${bytes} bytes instead of the ${uncompressedBytes} that its header promises`;
  return new RecordingFault("BadChunk", `${place} holds ${promised}`);
}
