import { createHash } from "node:crypto";
import { abortable } from "../../../core/abortable.ts";
import type { PutOptions } from "../blob-store.ts";
import { checkLength } from "../body-length.ts";
import type { PutResult } from "./bucket-client.ts";

const MOST_BLOCKS = 10_000;
/** Each block holds its bytes in memory. */
const BLOCKS_AT_ONCE = 3;
/** If the length is not known, blocks become twice as long after this many. */
const BLOCKS_OF_A_LENGTH = 1000;

/** A body of unknown length as blocks, each with memory of its own. */
export interface Blocks {
  /** All bytes if there are no others. */
  readonly first: Uint8Array;
  /** All blocks from the first one on; undefined if the first one is all. */
  readonly all: AsyncIterable<Uint8Array> | undefined;
  /** The result once all blocks were read. */
  result(): PutResult;
}

/** Reads a body in blocks. Its end is reached only if it has the announced length. */
export async function readBlocks(
  body: AsyncIterable<Uint8Array>,
  options: PutOptions,
  blockBytes: number,
): Promise<Blocks> {
  const counted = new CountedBody(checkLength(options.signal ? abortable(body, options.signal) : body, options));
  const blocks = joinIntoBlocks(counted, { blockBytes, expectedBytes: options.expectedBytes ?? 0 });
  const { value: first = Buffer.alloc(0), done } = await blocks.next();
  const second = done ? undefined : await blocks.next();
  const isOne = second === undefined || second.done === true;
  return {
    first,
    all: isOne ? undefined : chain([first, second.value], blocks),
    result: () => counted.result(),
  };
}

/** Sends some blocks while the next one arrives; numbers begin with 1. */
export async function sendBlocks<T>(
  blocks: AsyncIterable<Uint8Array>,
  send: (number: number, bytes: Uint8Array) => Promise<T>,
): Promise<T[]> {
  const sending: Promise<T>[] = [];
  for await (const bytes of blocks) {
    await sending.at(-BLOCKS_AT_ONCE);
    const sent = send(sending.length + 1, bytes);
    sent.catch(() => {}); // the error is thrown at an await below; until then it must not count as unhandled
    sending.push(sent);
  }
  return await Promise.all(sending);
}

/** Counts and hashes a body. */
class CountedBody implements AsyncIterable<Uint8Array> {
  readonly #body: AsyncIterable<Uint8Array>;
  readonly #hash = createHash("sha256");
  #sizeBytes = 0;

  constructor(body: AsyncIterable<Uint8Array>) {
    this.#body = body;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    for await (const piece of this.#body) {
      this.#sizeBytes += piece.byteLength;
      this.#hash.update(piece);
      yield piece;
    }
  }

  result(): PutResult {
    return { sizeBytes: this.#sizeBytes, sha256: this.#hash.digest("hex") };
  }
}

async function* chain(first: readonly Uint8Array[], rest: AsyncIterable<Uint8Array>) {
  yield* first;
  yield* rest;
}

interface BlockSizes {
  readonly blockBytes: number;
  /** 0 if the length is not known. */
  readonly expectedBytes: number;
}

/** Joins pieces of any size into blocks. */
async function* joinIntoBlocks(pieces: AsyncIterable<Uint8Array>, sizes: BlockSizes): AsyncGenerator<Uint8Array, void> {
  let count = 0;
  let block = Buffer.allocUnsafeSlow(sizeOfBlock(count, sizes));
  let filledBytes = 0;
  for await (const piece of pieces) {
    for (let taken = 0; taken < piece.byteLength; ) {
      if (filledBytes === block.byteLength) {
        yield block;
        count += 1;
        [block, filledBytes] = [Buffer.allocUnsafeSlow(sizeOfBlock(count, sizes)), 0];
      }
      const fitting = piece.subarray(taken, taken + block.byteLength - filledBytes);
      block.set(fitting, filledBytes);
      filledBytes += fitting.byteLength;
      taken += fitting.byteLength;
    }
  }
  if (filledBytes > 0) yield block.subarray(0, filledBytes);
}

function sizeOfBlock(count: number, { blockBytes, expectedBytes }: BlockSizes): number {
  if (expectedBytes === 0) return blockBytes * 2 ** Math.floor(count / BLOCKS_OF_A_LENGTH);
  return Math.min(expectedBytes, Math.max(blockBytes, Math.ceil(expectedBytes / MOST_BLOCKS)));
}
