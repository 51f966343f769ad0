import { freeOwn } from "../memory/free-memory.ts";
import type { ReadContext } from "../reading/read-context.ts";
import { refuseBeyond, type WindowReader } from "../reading/window-reader.ts";

/**
 * Reads a file once from its beginning to its end, and shows its bytes on the way. A block is read ahead while one is looked at. Looking
 * back behind the held bytes reads that part again.
 */
export class ForwardReader implements WindowReader {
  readonly #context: ReadContext;
  readonly #onBlock: (bytes: Uint8Array) => void;
  /** The latest blocks of the file, one behind the other. */
  readonly #blocks: Held[] = [];
  /** Copies that were put together from several blocks. */
  readonly #joins: Held[] = [];
  /** The bytes that are read at once. A look at a file takes less memory, and a little longer. */
  readonly #blockBytes: number;
  #readEnd = 0;
  #ahead: Promise<Uint8Array> | undefined;

  /** `onBlock` gets every byte once and in order. */
  constructor(context: ReadContext, onBlock: (bytes: Uint8Array) => void) {
    this.#context = context;
    this.#onBlock = onBlock;
    this.#blockBytes = context.limits.leavesOut ? LEAN_BLOCK_BYTES : BLOCK_BYTES;
  }

  peek(offset: number, length: number): Uint8Array | undefined {
    for (let at = this.#blocks.length - 1; at >= 0; at -= 1) {
      const { start, bytes } = this.#blocks[at]!;
      if (offset < start) continue;
      const from = offset - start;
      return from + length <= bytes.byteLength ? bytes.subarray(from, from + length) : undefined;
    }
    return undefined;
  }

  /** Gives back what lies more than a block before `offset`: bytes from there that were fetched earlier must not be used any more. */
  async fetch(offset: number, length: number): Promise<Uint8Array> {
    refuseBeyond({ offset, length, sizeBytes: this.#context.source.sizeBytes });
    this.#letGo(offset);
    while (this.#readEnd < offset + length) {
      await this.#advance();
      this.#letGo(offset);
    }
    return this.peek(offset, length) ?? (await this.#join(offset, length));
  }

  /** Reads a part of the file in pieces of at most a megabyte. Each piece is valid until the next is asked for. */
  async *stream(offset: number, lengthBytes: number): AsyncGenerator<Uint8Array> {
    refuseBeyond({ offset, length: lengthBytes, sizeBytes: this.#context.source.sizeBytes });
    for (let done = 0; done < lengthBytes; done += PIECE_BYTES) {
      yield await this.fetch(offset + done, Math.min(PIECE_BYTES, lengthBytes - done));
    }
  }

  /** Reads the bytes that were not looked at yet. */
  async finish(): Promise<void> {
    while (this.#readEnd < this.#context.source.sizeBytes) {
      this.#letGo(Number.POSITIVE_INFINITY);
      await this.#advance();
    }
  }

  async #advance(): Promise<void> {
    this.#context.signal?.throwIfAborted();
    if (!this.#ahead) this.#startReading();
    const bytes = await this.#ahead!;
    this.#blocks.push({ start: this.#readEnd, bytes });
    this.#readEnd += bytes.byteLength;
    this.#ahead = undefined;
    this.#startReading();
    this.#onBlock(bytes);
  }

  #startReading(): void {
    const { source } = this.#context;
    const offset = this.#readEnd;
    if (offset >= source.sizeBytes) return;
    this.#ahead = source.read(offset, Math.min(this.#blockBytes, source.sizeBytes - offset));
    this.#ahead.catch(() => undefined); // it is thrown when its turn comes
  }

  /** One block before the offset is kept, because loose messages are looked at again together. */
  #letGo(offset: number): void {
    for (const held of [this.#blocks, this.#joins])
      while (held[0] && endOf(held[0]) <= offset - this.#blockBytes) freeOwn(held.shift()!.bytes);
  }

  async #join(offset: number, length: number): Promise<Uint8Array> {
    if (offset < (this.#blocks[0]?.start ?? this.#readEnd)) return this.#context.source.read(offset, length);
    const joined = Buffer.allocUnsafeSlow(length);
    for (const { start, bytes } of this.#blocks) {
      const from = Math.max(offset, start);
      const to = Math.min(offset + length, start + bytes.byteLength);
      if (from < to) joined.set(bytes.subarray(from - start, to - start), from - offset);
    }
    this.#joins.push({ start: offset, bytes: joined });
    return joined;
  }
}

interface Held {
  readonly start: number;
  readonly bytes: Uint8Array;
}

function endOf({ start, bytes }: Held): number {
  return start + bytes.byteLength;
}

/** Copies for a decoder: it holds pieces until a block is whole and gives their memory back, while the reader goes on and gives back its own. */
export async function* copies(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) yield new Uint8Array(piece);
}

const BLOCK_BYTES = 2 * 1024 * 1024;
const LEAN_BLOCK_BYTES = 512 * 1024;
const PIECE_BYTES = 1024 * 1024;
