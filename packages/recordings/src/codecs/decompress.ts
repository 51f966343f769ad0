import { promisify } from "node:util";
import { constants, zstdDecompress, zstdDecompressSync } from "node:zlib";
import type Bzip2 from "@foxglove/wasm-bz2";
import { RecordingFault } from "../faults/reasons.ts";
import { asBuffer } from "../memory/as-buffer.ts";
import { type HoldMemory, holdFreely } from "../memory/large-memory.ts";
import { type OnFrames, unlz4Pieces, unzstdPieces } from "./decompress-pieces.ts";
import type { Frame } from "./find-frames.ts";
import { loadBzip2 } from "./load-bzip2.ts";
import { loadLz4 } from "./load-lz4.ts";
import { findLz4Frames, type Lz4Frame } from "./lz4-frames.ts";
import { endOfBlocks, findZstdFrames } from "./zstd-frames.ts";

/** `place` begins the fault's text, e.g. "the chunk at byte 412". */
interface Compressed {
  compression: string;
  uncompressedBytes: number;
  /** Nothing behind so many is wanted: less than all may be given. */
  wantedBytes?: number;
  place: string;
}

export interface CompressedBytes extends Compressed {
  bytes: Uint8Array;
}

/**
 * Decompresses chunks to exactly the size they promised, or faults with `BadChunk` or `UnknownCompression`. Make one per recording: the
 * bzip2 module keeps its memory for as long as it lives.
 */
export interface Decompressor {
  (input: CompressedBytes): Promise<Uint8Array>;
  /**
   * The same in pieces of some megabytes at most, from pieces, all of which are taken; of bzip2, which knows no pieces, one. Holds neither
   * side whole but of bzip2.
   */
  inPieces(input: CompressedBytes | CompressedPieces): AsyncGenerator<Uint8Array>;
}

export interface CompressedPieces extends Compressed {
  pieces: AsyncIterable<Uint8Array>;
  /** All pieces together. */
  storedBytes: number;
  /** What would need more memory at once, a window or a whole of bzip2, faults with `ChunkTooLarge`. */
  mostBytes?: number;
  onFrames?: OnFrames;
}

export interface DecompressorOptions {
  /** For worker threads, which gain nothing by handing the work to yet another thread. */
  isBlocking?: boolean | undefined;
  /** Asked for what reading in pieces holds all the same, where that is much: bzip2, a large window. */
  hold?: HoldMemory | undefined;
}

export function createDecompressor({ isBlocking = false, hold = holdFreely }: DecompressorOptions = {}): Decompressor {
  let bzip2: Promise<Bzip2> | undefined;
  const holdMuch: HoldMemory = (bytes) => (bytes > littleBytes ? hold(bytes) : holdFreely(bytes));
  const whole = async (input: CompressedBytes): Promise<Uint8Array> => {
    const compression = knownOf(input);
    if (isPlain(compression)) return checkLength(input, input.bytes);
    if (input.uncompressedBytes === 0) return new Uint8Array(0);
    if (compression === "bz2") bzip2 ??= loadBzip2();
    try {
      const begun = compression === "zstd" && isBlocking ? unzstdBeginning(input) : undefined;
      if (begun) return begun;
      return checkLength(input, await decompressWith({ ...input, compression }, { bzip2: await bzip2, isBlocking }));
    } catch (error) {
      throw toFault(error, input);
    }
  };
  async function* inPieces(input: CompressedBytes | CompressedPieces): AsyncGenerator<Uint8Array> {
    const compression = knownOf(input);
    const noted = noteFailure("pieces" in input ? input.pieces : onePiece(input.bytes));
    const storedBytes = "pieces" in input ? input.storedBytes : input.bytes.byteLength;
    let leftBytes = input.uncompressedBytes;
    try {
      for await (const piece of piecesOf({ ...input, compression, pieces: noted.pieces, storedBytes })) {
        leftBytes -= piece.byteLength;
        if (leftBytes < 0) throw new Error("larger than its header says");
        yield piece;
      }
    } catch (error) {
      throw noted.failure ? noted.failure.error : toFault(error, input);
    }
    if (leftBytes > 0) throw wrongLength(input, input.uncompressedBytes - leftBytes);
  }
  async function* piecesOf(input: CompressedPieces): AsyncGenerator<Uint8Array> {
    const { compression, pieces, uncompressedBytes, storedBytes, onFrames, mostBytes, place } = input;
    if (isPlain(compression)) yield* pieces;
    else if (compression === "lz4" && uncompressedBytes > 0) yield* unlz4Pieces(pieces, { isBlocking, onFrames });
    else if (compression === "zstd" && uncompressedBytes > 0) {
      const holdWindow: HoldMemory = (bytes) => {
        refuseLarge(bytes, mostBytes, place);
        return holdMuch(Math.min(bytes, uncompressedBytes));
      };
      yield* unzstdPieces(pieces, { onFrames, hold: holdWindow });
    } else {
      refuseLarge(uncompressedBytes, mostBytes, place);
      using _held = await holdMuch(2 * (storedBytes + uncompressedBytes)); // with the memory of the module
      yield await whole({ ...input, bytes: await joined(pieces, mostBytes, place) });
    }
  }
  return Object.assign(whole, { inPieces });
}

/** `most`: undefined for no bound but those of the chunk. */
function refuseLarge(bytes: number, most: number | undefined, place: string): void {
  if (most === undefined || bytes <= most) return;
  const text = `${place} needs ${bytes} bytes at once to be decompressed; at most ${most} are taken for it`;
  throw new RecordingFault("ChunkTooLarge", text);
}

const known = ["", "none", "zstd", "lz4", "bz2"] as const;
type KnownCompression = (typeof known)[number];

export function isKnownCompression(name: string): name is KnownCompression {
  return (known as readonly string[]).includes(name);
}

function knownOf({ compression, place }: Compressed): KnownCompression {
  if (isKnownCompression(compression)) return compression;
  const name = compression.slice(0, 32);
  const text = `${place} is compressed with "${name}", which is not read; convert the file to lz4 or zstd`;
  throw new RecordingFault("UnknownCompression", text);
}

/** Less need not wait for its turn. */
const littleBytes = 8 * 1024 * 1024;

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

function isLz4(frame: Frame | Lz4Frame): frame is Lz4Frame {
  return "mostBytes" in frame;
}

interface Bounds {
  leftBytes: number;
  isBlocking: boolean;
}

async function unzstd(frame: Uint8Array, { leftBytes, isBlocking }: Bounds): Promise<Uint8Array> {
  const options = { maxOutputLength: Math.max(leftBytes, 1), chunkSize: roomFor(leftBytes) };
  return isBlocking ? zstdDecompressSync(frame, options) : unzstdAside(frame, options);
}

/** One byte more than needed: a full buffer would make the decoder get itself another. */
function roomFor(sizeBytes: number): number {
  return Math.min(Math.max(sizeBytes + 1, 64), 8 * 1024 * 1024);
}

/** As many blocks as are wanted, where those are fewer; the decoder need not be told that more would follow. */
function unzstdBeginning({ bytes, uncompressedBytes, wantedBytes }: CompressedBytes): Uint8Array | undefined {
  if (wantedBytes === undefined || wantedBytes > uncompressedBytes * mostBegunShare) return undefined;
  const [frame, ...others] = findZstdFrames(bytes);
  if (!frame || frame.start > 0 || others.length > 0) return undefined;
  const end = endOfBlocks(bytes, wantedBytes, uncompressedBytes);
  if (end === undefined || end > bytes.byteLength * mostBegunShare) return undefined;
  const options = { maxOutputLength: uncompressedBytes, chunkSize: roomFor(uncompressedBytes) };
  const begun = zstdDecompressSync(bytes.subarray(0, end), { ...options, finishFlush: constants.ZSTD_e_continue });
  return begun.byteLength >= wantedBytes ? begun : undefined;
}

/** Without its end a frame is decompressed by way of a buffer, which takes longer. */
const mostBegunShare = 0.85;

const unzstdAside = promisify(zstdDecompress);

async function unlz4(bytes: Uint8Array, frame: Lz4Frame, { leftBytes, isBlocking }: Bounds): Promise<Uint8Array> {
  if (frame.mostBytes > leftBytes + lz4SlackBytes) return await unlz4Filled(bytes, { leftBytes, isBlocking });
  if (!isBlocking) return loadLz4().decompressFrame(bytes);
  return loadLz4().decompressFrameSync(asBuffer(bytes));
}

/** The bound of a frame exceeds its content by the unfilled rest of each block. Flushed frames have many, those that lie too. */
async function unlz4Filled(bytes: Uint8Array, { leftBytes, isBlocking }: Bounds): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let filledBytes = 0;
  for await (const part of unlz4Pieces(onePiece(bytes), { isBlocking })) {
    filledBytes += part.byteLength;
    if (filledBytes > leftBytes) throw new Error("larger than its header says");
    parts.push(part);
  }
  return Buffer.concat(parts, filledBytes);
}

const lz4SlackBytes = 4 * 1024 * 1024;

async function joined(pieces: AsyncIterable<Uint8Array>, most?: number, place = ""): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.byteLength;
    refuseLarge(bytes, most, place);
    all.push(piece);
  }
  return all.length === 1 ? all[0]! : Buffer.concat(all);
}

/** Pieces are given back when they were taken in; these are still the caller's. */
async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes.byteLength < bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}

/** What reading the pieces throws is no fault of theirs, and told as it is. */
function noteFailure(pieces: AsyncIterable<Uint8Array>) {
  const noted = { pieces: passOn(), failure: undefined as { error: unknown } | undefined };
  async function* passOn(): AsyncGenerator<Uint8Array> {
    try {
      yield* pieces;
    } catch (error) {
      noted.failure = { error };
      throw error;
    }
  }
  return noted;
}

/** Decoders throw plain errors without a class: whatever they throw means that the bytes are not theirs. */
function toFault(error: unknown, { place, compression }: Compressed): RecordingFault {
  if (error instanceof RecordingFault) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new RecordingFault("BadChunk", `${place} does not decompress (${compression}: ${detail})`);
}

function checkLength(input: CompressedBytes, output: Uint8Array): Uint8Array {
  if (output.byteLength === input.uncompressedBytes) return output;
  throw wrongLength(input, output.byteLength);
}

function wrongLength({ place, uncompressedBytes }: Compressed, bytes: number): RecordingFault {
  const promised = `${bytes} bytes instead of the ${uncompressedBytes} that its header promises`;
  return new RecordingFault("BadChunk", `${place} holds ${promised}`);
}

/** Whether what is stored is what is meant; some programs name that. The memory is then the reader's own. */
export function isPlain(compression: string): compression is "" | "none" {
  return compression === "" || compression === "none";
}
