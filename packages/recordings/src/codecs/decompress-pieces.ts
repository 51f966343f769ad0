import { createZstdDecompress } from "node:zlib";
import type { HoldMemory } from "../memory/large-memory.ts";
import { type ByteFeed, createByteFeed } from "./byte-feed.ts";
import { feedStream } from "./feed-stream.ts";
import { loadLz4 } from "./load-lz4.ts";
import { type Lz4Head, readBlockHead, readLz4Head } from "./lz4-frames.ts";
import { nextRound } from "./one-by-one.ts";
import { zstdWindowBytes } from "./zstd-format.ts";
import { ZstdWalk } from "./zstd-walk.ts";

/** Gets whether the content was nothing but one frame. */
export type OnFrames = (isOneFrame: boolean) => void;

/**
 * Decompresses all frames that stand one behind the other, in pieces of some megabytes at most. Bytes behind the last frame are taken and
 * left out. A window of the content or a block is held, never the whole, whatever the frames are.
 */
export async function* unzstdPieces(
  pieces: AsyncIterable<Uint8Array>,
  { onFrames = () => undefined, hold }: UnzstdOptions,
): AsyncGenerator<Uint8Array> {
  const source = openPieces(pieces);
  const walk = new ZstdWalk();
  let frameCount = 0;
  while (await source.findFrame(walk)) {
    frameCount += 1;
    using _window = await hold(zstdWindowBytes(walk.head));
    yield* feedStream(source.frame(walk), createZstdDecompress({ chunkSize: PIECE_BYTES }));
    if (walk.state !== "ended") throw new Error("not a whole frame");
  }
  if (frameCount === 0) throw new Error("not a whole frame");
  onFrames(frameCount === 1 && source.isCoveredByFrames());
  await source.drain();
}

interface UnzstdOptions {
  readonly onFrames?: OnFrames | undefined;
  /** Asked for the window of each frame before any of the frame is decompressed. It may throw. */
  readonly hold: HoldMemory;
}

const PIECE_BYTES = 1024 * 1024;

function openPieces(pieces: AsyncIterable<Uint8Array>) {
  const iterator = pieces[Symbol.asyncIterator]();
  let piece: Uint8Array = new Uint8Array(0);
  let at = 0;
  /** The bytes of all pieces up to and with this one. */
  let givenBytes = 0;
  let frameBytes = 0;
  const advance = async (): Promise<boolean> => {
    const { done, value } = await iterator.next();
    piece = done ? new Uint8Array(0) : value;
    givenBytes += piece.byteLength;
    at = 0;
    return !done;
  };
  return {
    async findFrame(walk: ZstdWalk): Promise<boolean> {
      do {
        at = walk.push(piece, at);
        if (walk.state === "begins") return true;
        if (walk.state === "none") return false;
      } while (await advance());
      return false;
    },
    async *frame(walk: ZstdWalk): AsyncGenerator<Uint8Array> {
      frameBytes += walk.head.byteLength;
      yield walk.head;
      do {
        const from = at;
        at = walk.push(piece, at);
        frameBytes += at - from;
        if (at > from) yield piece.subarray(from, at);
        if (walk.state === "ended") return;
      } while (await advance());
    },
    isCoveredByFrames: () => frameBytes === givenBytes,
    async drain(): Promise<void> {
      while (await advance());
    },
  };
}

/** Decompresses all frames, block by block. Bytes behind the last frame are taken and left out. */
export async function* unlz4Pieces(
  pieces: AsyncIterable<Uint8Array>,
  { isBlocking, onFrames = () => undefined, onBlock }: Unlz4Options,
): AsyncGenerator<Uint8Array> {
  const feed = createByteFeed(pieces);
  let frameCount = 0;
  let frameEnd = 0;
  for (let head = await readLz4Head(feed); head; head = await readLz4Head(feed)) {
    frameCount += 1;
    yield* unlz4Blocks(feed, head, { isBlocking, onBlock });
    await require(feed.take(head.endBytes));
    frameEnd = feed.takenBytes;
  }
  if (frameCount === 0) throw new Error("not a whole frame");
  onFrames(frameCount === 1 && (await feed.drain()) === frameEnd);
  await feed.drain();
}

interface Unlz4Options {
  readonly isBlocking: boolean;
  readonly onFrames?: OnFrames | undefined;
  /** Gets how many of the bytes were taken when a block was decompressed. */
  readonly onBlock?: ((takenBytes: number) => void) | undefined;
}

/** The library wants the size in front of a block, and takes what the block refers to as a dictionary. */
async function* unlz4Blocks(
  feed: ByteFeed,
  head: Lz4Head,
  { isBlocking, onBlock }: Unlz4Options,
): AsyncGenerator<Uint8Array> {
  const { blockMaxBytes, isLinked } = head;
  let before: Uint8Array = new Uint8Array(0);
  for (let block = await readBlock(feed, head); block; block = await readBlock(feed, head)) {
    if (!isBlocking) await nextRound(); // a block of 4 MiB takes some milliseconds
    const { stored, isStored } = block;
    const piece = isStored ? new Uint8Array(stored) : unlz4Block(stored, { blockMaxBytes, before });
    if (isLinked) before = lastOf(before, piece);
    onBlock?.(feed.takenBytes);
    yield piece;
  }
}

/** Answers undefined at the end of the frame's blocks. */
async function readBlock(
  feed: ByteFeed,
  { blockMaxBytes, blockTrailerBytes }: Lz4Head,
): Promise<{ stored: Uint8Array; isStored: boolean } | undefined> {
  const blockHead = viewOf(await require(feed.take(4))).getUint32(0, true);
  if (blockHead === 0) return undefined;
  const { storedBytes, isStored } = readBlockHead(blockHead);
  if (storedBytes > blockMaxBytes) throw new Error("a block is larger than its frame says");
  const stored = await require(feed.take(storedBytes + blockTrailerBytes));
  return { stored: stored.subarray(0, storedBytes), isStored };
}

async function require(taken: Promise<Uint8Array | undefined>): Promise<Uint8Array> {
  const bytes = await taken;
  if (!bytes) throw new Error("not a whole frame");
  return bytes;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

interface Block {
  readonly blockMaxBytes: number;
  readonly before: Uint8Array;
}

/** Uses the library's synchronous call, because the asynchronous one keeps hundreds of megabytes. */
function unlz4Block(stored: Uint8Array, { blockMaxBytes, before }: Block): Uint8Array {
  const input = Buffer.allocUnsafe(4 + stored.byteLength);
  input.writeUInt32LE(blockMaxBytes, 0);
  input.set(stored, 4);
  return loadLz4().uncompressSync(input, before.byteLength > 0 ? before : undefined);
}

/** Blocks refer back so far at most. */
const LINKED_BYTES = 64 * 1024;

function lastOf(before: Uint8Array, piece: Uint8Array): Uint8Array {
  if (piece.byteLength >= LINKED_BYTES) return new Uint8Array(piece.subarray(-LINKED_BYTES));
  return Buffer.concat([before, piece]).subarray(-LINKED_BYTES);
}

/**
 * Gives bytes as one piece. The memory of pieces is given back when they were taken in, and these bytes may still be the caller's, which a
 * copy prevents.
 */
export async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes.byteLength < bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}
