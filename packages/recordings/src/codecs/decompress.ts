import type Bzip2 from "@foxglove/wasm-bz2";
import { RecordingError } from "../faults/reasons.ts";
import { type HoldMemory, holdFreely } from "../memory/large-memory.ts";
import { type BegunCompression, begunNames, decodeBeginning, isBegun } from "./begun-frames.ts";
import { decompressFrames, unzstdBeginning } from "./decompress-frames.ts";
import { type OnFrames, onePiece, unlz4Pieces, unzstdPieces } from "./decompress-pieces.ts";
import { loadBzip2 } from "./load-bzip2.ts";

/** `place` begins the text of an error, e.g. "the chunk at byte 412". */
interface Compressed {
  readonly compression: string;
  readonly uncompressedBytes: number;
  /** Only the first so many bytes are needed. Then fewer than all may be given. */
  readonly wantedBytes?: number;
  readonly place: string;
}

export interface CompressedBytes extends Compressed {
  readonly bytes: Uint8Array;
}

export interface CompressedPieces extends Compressed {
  readonly pieces: AsyncIterable<Uint8Array>;
  /** The sum of all pieces. */
  readonly storedBytes: number;
  /** A chunk that needs more memory at once, for a window or for the whole of a bzip2 block, throws `ChunkTooLarge`. */
  readonly mostBytes?: number;
  readonly onFrames?: OnFrames;
}

export interface DecompressorOptions {
  /** Worker threads set it: they gain nothing by handing the work to yet another thread. */
  readonly isBlocking?: boolean | undefined;
  /** Asked before reading in pieces holds much memory all the same: for bzip2 or a large window. */
  readonly hold?: HoldMemory | undefined;
}

/**
 * Decompresses chunks to exactly the size that they promised, or throws `BadChunk` or `UnknownCompression`. There should be one for each
 * recording, because the bzip2 module keeps its memory for as long as it lives.
 */
export class Decompressor {
  readonly #isBlocking: boolean;
  readonly #hold: HoldMemory;
  #bzip2: Promise<Bzip2> | undefined;

  constructor({ isBlocking = false, hold = holdFreely }: DecompressorOptions = {}) {
    this.#isBlocking = isBlocking;
    this.#hold = (bytes) => (bytes > LITTLE_BYTES ? hold(bytes) : holdFreely(bytes));
  }

  async whole(input: CompressedBytes): Promise<Uint8Array> {
    const compression = knownOf(input);
    if (isPlain(compression)) return checkLength(input, input.bytes);
    // Nothing may be stored without a frame. A frame is looked into, because the size alone may be damaged.
    if (input.uncompressedBytes === 0 && (input.bytes.byteLength === 0 || compression === "bz2"))
      return new Uint8Array(0);
    if (isBegun(compression)) return joined(this.inPieces(input));
    try {
      if (compression === "bz2") return checkLength(input, await this.#unbzip2(input));
      const begun = compression === "zstd" && this.#isBlocking ? unzstdBeginning(input) : undefined;
      return begun ?? checkLength(input, await decompressFrames({ ...input, compression }, this.#isBlocking));
    } catch (error) {
      throw toFault(error, input);
    }
  }

  /**
   * Decompresses pieces, all of which are taken, to pieces of some megabytes at most. Neither side is held whole, except with bzip2, which
   * knows no pieces and gives one.
   */
  async *inPieces(input: CompressedBytes | CompressedPieces): AsyncGenerator<Uint8Array> {
    const compression = knownOf(input);
    const { storedBytes, pieces } = "pieces" in input ? input : toPieces(input);
    const given = noteFailure(pieces);
    let leftBytes = input.uncompressedBytes;
    try {
      for await (const piece of this.#decode({ ...input, compression, pieces: given.pieces, storedBytes })) {
        leftBytes -= piece.byteLength;
        if (leftBytes < 0) throw new Error("larger than its header says");
        yield piece;
      }
    } catch (error) {
      throw given.failure ? given.failure.error : toFault(error, input);
    }
    if (leftBytes > 0) throw wrongLength(input, input.uncompressedBytes - leftBytes);
  }

  /**
   * Decompresses the bzip2 stream that the bytes begin with, whatever stands behind it. Answers undefined if it is damaged, or becomes larger
   * than `mostBytes`.
   */
  async bzip2Stream(bytes: Uint8Array, mostBytes: number): Promise<Uint8Array | undefined> {
    this.#bzip2 ??= loadBzip2();
    const bzip2 = await this.#bzip2;
    for (let roomBytes = Math.min(FIRST_ROOM_BYTES, mostBytes); ; roomBytes = Math.min(4 * roomBytes, mostBytes)) {
      using _held = await this.#hold(2 * (bytes.byteLength + roomBytes));
      try {
        return bzip2.decompress(bytes, roomBytes);
      } catch (error) {
        if (!`${error}`.includes("BZ_OUTBUFF_FULL") || roomBytes === mostBytes) return undefined;
      }
    }
  }

  #decode(input: CompressedPieces & { compression: KnownCompression }): AsyncIterable<Uint8Array> {
    const { compression, pieces, uncompressedBytes, onFrames } = input;
    if (isPlain(compression)) return pieces;
    if (isBegun(compression)) return beginningOf({ ...input, compression });
    if (compression === "bz2" || uncompressedBytes === 0) return this.#decodeJoined(input);
    if (compression === "lz4") return unlz4Pieces(pieces, { isBlocking: this.#isBlocking, onFrames });
    return unzstdPieces(pieces, { onFrames, hold: this.#holdingWindow(input) });
  }

  #holdingWindow({ uncompressedBytes, mostBytes, place }: CompressedPieces): HoldMemory {
    return (windowBytes) => {
      refuseLarge(windowBytes, mostBytes, place);
      return this.#hold(Math.min(windowBytes, uncompressedBytes));
    };
  }

  async *#decodeJoined(input: CompressedPieces): AsyncGenerator<Uint8Array> {
    const { pieces, uncompressedBytes, storedBytes, mostBytes, place } = input;
    refuseLarge(uncompressedBytes, mostBytes, place);
    using _held = await this.#hold(2 * (storedBytes + uncompressedBytes)); // the module holds both sides once more
    yield await this.whole({ ...input, bytes: await joined(pieces, mostBytes, place) });
  }

  async #unbzip2({ bytes, uncompressedBytes }: CompressedBytes): Promise<Uint8Array> {
    this.#bzip2 ??= loadBzip2();
    return (await this.#bzip2).decompress(bytes, uncompressedBytes);
  }
}

/** The first so many bytes as its index says of what was begun, whatever stands behind them. All pieces are taken. */
async function* beginningOf(input: CompressedPieces & { compression: BegunCompression }): AsyncGenerator<Uint8Array> {
  const { compression, pieces, uncompressedBytes, mostBytes = MOST_WINDOW_BYTES } = input;
  const taken = pieces[Symbol.asyncIterator]();
  let leftBytes = uncompressedBytes;
  for await (const piece of decodeBeginning(compression, { [Symbol.asyncIterator]: () => taken }, { mostBytes })) {
    if (leftBytes > 0) yield piece.byteLength <= leftBytes ? piece : new Uint8Array(piece.subarray(0, leftBytes));
    leftBytes -= piece.byteLength;
    if (leftBytes <= 0) break;
  }
  while (!(await taken.next()).done);
}

/** The largest window that a decoder takes by itself. */
const MOST_WINDOW_BYTES = 128 * 1024 * 1024;

/** `most` is undefined if there is no bound other than those of the chunk. */
function refuseLarge(bytes: number, most: number | undefined, place: string): void {
  if (most === undefined || bytes <= most) return;
  const text = `${place} needs ${bytes} bytes at once to be decompressed; at most ${most} are taken for it`;
  throw new RecordingError("ChunkTooLarge", text);
}

const known = ["", "none", "zstd", "lz4", "bz2", begunNames.lz4, begunNames.zstd] as const;
type KnownCompression = (typeof known)[number];

export function isKnownCompression(name: string): name is KnownCompression {
  return (known as readonly string[]).includes(name);
}

function knownOf({ compression, place }: Compressed): KnownCompression {
  if (isKnownCompression(compression)) return compression;
  const name = compression.slice(0, 32);
  const text = `${place} is compressed with "${name}", which is not read; convert the file to lz4 or zstd`;
  throw new RecordingError("UnknownCompression", text);
}

/** Enough for a chunk of most bags. */
const FIRST_ROOM_BYTES = 1024 * 1024;

/** Less memory than this is held without waiting for a turn. */
const LITTLE_BYTES = 8 * 1024 * 1024;

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

function toPieces({ bytes }: CompressedBytes): Pick<CompressedPieces, "pieces" | "storedBytes"> {
  return { pieces: onePiece(bytes), storedBytes: bytes.byteLength };
}

/** Notes what reading the pieces throws: such an error does not mean that the content is damaged, and is thrown as it is. */
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

/** Decoders throw plain errors without a class. Whatever they throw means that the bytes are not what they say. */
function toFault(error: unknown, { place, compression }: Compressed): RecordingError {
  if (error instanceof RecordingError) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new RecordingError("BadChunk", `${place} does not decompress (${compression}: ${detail})`);
}

function checkLength(input: CompressedBytes, output: Uint8Array): Uint8Array {
  if (output.byteLength === input.uncompressedBytes) return output;
  throw wrongLength(input, output.byteLength);
}

function wrongLength({ place, uncompressedBytes }: Compressed, bytes: number): RecordingError {
  const promised = `${bytes} bytes instead of the ${uncompressedBytes} that its header promises`;
  return new RecordingError("BadChunk", `${place} holds ${promised}`);
}

/** Whether the chunk is not compressed; some programs have a name for that. Its memory is then the reader's own. */
export function isPlain(compression: string): compression is "" | "none" {
  return compression === "" || compression === "none";
}
