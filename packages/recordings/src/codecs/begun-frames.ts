import { createZstdDecompress } from "node:zlib";
import { type ByteFeed, createByteFeed } from "./byte-feed.ts";
import { unlz4Pieces } from "./decompress-pieces.ts";
import { isSkippable } from "./find-frames.ts";
import {
  readZstdBlock,
  ZSTD_BLOCK_HEAD_BYTES,
  ZSTD_MAGIC,
  zstdHeadBytes,
  zstdTrailerBytes,
  zstdWindowBytes,
} from "./zstd-format.ts";

/*
 * Decompresses what a recorder left of a chunk that it had not finished: frames decode up to their last whole block. It stops where the
 * bytes make no sense any more, and nothing of that is an error.
 */

/**
 * Names of compressions that only we give: to the whole blocks at the beginning of frames that are cut off or damaged behind them. A
 * verified index holds them; no recorder writes them.
 */
export const begunNames = { lz4: "lz4 begun", zstd: "zstd begun" } as const;
export type BegunCompression = (typeof begunNames)[keyof typeof begunNames];

export function isBegun(compression: string): compression is BegunCompression {
  return compression === begunNames.lz4 || compression === begunNames.zstd;
}

interface BeginningOptions {
  /** A frame with a larger window gives nothing. */
  readonly mostBytes: number;
  /** Gets how many of the bytes were taken when a block was decompressed. */
  readonly onBlock?: (takenBytes: number) => void;
}

/** Yields each block that decodes. */
export function decodeBeginning(
  compression: BegunCompression,
  pieces: AsyncIterable<Uint8Array>,
  options: BeginningOptions,
): AsyncGenerator<Uint8Array> {
  return compression === begunNames.lz4 ? unlz4Beginning(pieces, options) : unzstdBlocks(pieces, options);
}

async function* unlz4Beginning(
  pieces: AsyncIterable<Uint8Array>,
  { onBlock }: BeginningOptions,
): AsyncGenerator<Uint8Array> {
  let failure: { error: unknown } | undefined;
  const noted = async function* () {
    try {
      yield* pieces;
    } catch (error) {
      failure = { error };
    }
  };
  try {
    yield* unlz4Pieces(noted(), { isBlocking: false, onBlock });
  } catch {
    // The next block is cut off or damaged.
  }
  if (failure) throw failure.error;
}

async function* unzstdBlocks(
  pieces: AsyncIterable<Uint8Array>,
  { mostBytes, onBlock }: BeginningOptions,
): AsyncGenerator<Uint8Array> {
  const feed = createByteFeed(pieces);
  for (let head = await takeFrameHead(feed); head; head = await takeFrameHead(feed)) {
    if (zstdWindowBytes(head) > mostBytes) return;
    using decoder = openDecoder();
    if (!(await decoder.push(head))) return;
    for (let isLast = false; !isLast; ) {
      const block = await takeBlock(feed);
      const decoded = block && (await decoder.push(block.bytes));
      if (!decoded) return;
      onBlock?.(feed.takenBytes);
      yield* decoded;
      isLast = block.isLast;
    }
    await feed.take(zstdTrailerBytes(head[4]!));
  }
}

/** Answers a block with its head; undefined if no whole block follows. */
async function takeBlock(feed: ByteFeed): Promise<{ bytes: Uint8Array; isLast: boolean } | undefined> {
  const head = await feed.take(ZSTD_BLOCK_HEAD_BYTES);
  if (!head) return undefined;
  const { storedBytes, isReserved, isLast } = readZstdBlock(head[0]! + head[1]! * 2 ** 8 + head[2]! * 2 ** 16);
  const content = isReserved ? undefined : await feed.take(storedBytes);
  return content && { bytes: Buffer.concat([head, content]), isLast };
}

/** Answers undefined if no other frame begins. */
async function takeFrameHead(feed: ByteFeed): Promise<Uint8Array | undefined> {
  for (let start = await feed.take(4); start; start = await feed.take(4)) {
    const magic = Buffer.from(start).readUInt32LE(0);
    if (isSkippable(magic)) {
      const size = await feed.take(4);
      if (!size || !(await feed.skip(Buffer.from(size).readUInt32LE(0)))) return undefined;
      continue;
    }
    const descriptor = magic === ZSTD_MAGIC ? await feed.take(1) : undefined;
    if (!descriptor) return undefined;
    const rest = await feed.take(zstdHeadBytes(descriptor[0]!) - 5);
    return rest && Buffer.concat([start, descriptor, rest]);
  }
  return undefined;
}

/**
 * `push` answers what the bytes decode to, or undefined if they are damaged. It gets block by block, because the decoder drops what it
 * decoded of a write in which a damaged block stands.
 */
function openDecoder() {
  const decoder = createZstdDecompress({ chunkSize: DECODED_BYTES });
  let decoded: Uint8Array[] = [];
  let onFailure = (): void => undefined;
  decoder.on("data", (piece: Uint8Array) => decoded.push(piece));
  decoder.on("error", () => onFailure());
  return {
    async push(bytes: Uint8Array): Promise<Uint8Array[] | undefined> {
      decoded = [];
      const { promise, resolve } = Promise.withResolvers<boolean>();
      onFailure = () => resolve(false);
      decoder.write(bytes, (error) => resolve(!error));
      return (await promise) ? decoded : undefined;
    },
    [Symbol.dispose]: () => void decoder.destroy(),
  };
}

/** A block holds at most 128 KiB. */
const DECODED_BYTES = 128 * 1024;
