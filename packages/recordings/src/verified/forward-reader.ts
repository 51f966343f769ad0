import { freeOwn } from "../memory/free-memory.ts";
import type { ReadContext } from "../reading/read-context.ts";
import { refuseBeyond, type WindowReader } from "../reading/window-reader.ts";

/** Reads a file once from its beginning to its end, and lets look at it on the way. */
export interface ForwardReader extends WindowReader {
  /** A part of the file in pieces of at most a block; each is valid until the next is asked for. */
  stream(offset: number, lengthBytes: number): AsyncGenerator<Uint8Array>;
  /** Reads what nobody has looked at. */
  finish(): Promise<void>;
}

/**
 * `onBlock` gets every byte once and in order. A block is read ahead while one is looked at. Who looks back behind what is held
 * reads that again. What lies more than a block before the offset that is fetched is given back: its bytes must not be used any more.
 */
export function openForwardReader(context: ReadContext, onBlock: (bytes: Uint8Array) => void): ForwardReader {
  const { source, signal } = context;
  /** Contiguous. */
  const blocks: Held[] = [];
  /** Put together from several blocks. */
  const joins: Held[] = [];
  let readEnd = 0;
  let ahead: Promise<Uint8Array> | undefined;

  const startReading = (): void => {
    const offset = readEnd;
    if (offset >= source.sizeBytes) return;
    ahead = source.read(offset, Math.min(blockBytes, source.sizeBytes - offset));
    ahead.catch(() => undefined); // thrown when its turn comes
  };
  const advance = async (): Promise<void> => {
    signal?.throwIfAborted();
    if (!ahead) startReading();
    const bytes = await ahead!;
    blocks.push({ start: readEnd, bytes });
    readEnd += bytes.byteLength;
    ahead = undefined;
    startReading();
    onBlock(bytes);
  };
  const peek = (offset: number, length: number): Uint8Array | undefined => {
    for (let at = blocks.length - 1; at >= 0; at -= 1) {
      const { start, bytes } = blocks[at]!;
      if (offset < start) continue;
      return offset + length <= start + bytes.byteLength
        ? bytes.subarray(offset - start, offset - start + length)
        : undefined;
    }
    return undefined;
  };
  const fetch = async (offset: number, length: number): Promise<Uint8Array> => {
    refuseBeyond({ offset, length, sizeBytes: source.sizeBytes });
    letGo(offset);
    while (readEnd < offset + length) {
      await advance();
      letGo(offset);
    }
    return peek(offset, length) ?? (await join(offset, length));
  };
  /** Of what lies before, a block is kept: loose messages are looked at again together. */
  const letGo = (offset: number): void => {
    for (const held of [blocks, joins])
      while (held[0] && endOf(held[0]) <= offset - blockBytes) freeOwn(held.shift()!.bytes);
  };
  const join = async (offset: number, length: number): Promise<Uint8Array> => {
    if (offset < (blocks[0]?.start ?? readEnd)) return source.read(offset, length);
    const joined = Buffer.allocUnsafeSlow(length);
    for (const { start, bytes } of blocks) {
      const from = Math.max(offset, start);
      const to = Math.min(offset + length, start + bytes.byteLength);
      if (from < to) joined.set(bytes.subarray(from - start, to - start), from - offset);
    }
    joins.push({ start: offset, bytes: joined });
    return joined;
  };
  async function* stream(offset: number, lengthBytes: number): AsyncGenerator<Uint8Array> {
    refuseBeyond({ offset, length: lengthBytes, sizeBytes: source.sizeBytes });
    for (let done = 0; done < lengthBytes; done += pieceBytes) {
      yield await fetch(offset + done, Math.min(pieceBytes, lengthBytes - done));
    }
  }
  const finish = async (): Promise<void> => {
    while (readEnd < source.sizeBytes) {
      letGo(Number.POSITIVE_INFINITY);
      await advance();
    }
  };
  return { peek, fetch, stream, finish };
}

interface Held {
  start: number;
  bytes: Uint8Array;
}

function endOf({ start, bytes }: Held): number {
  return start + bytes.byteLength;
}

/** Copies, for a decoder: that holds pieces until a block is whole, and gives them back, while the reader goes on and gives back its own. */
export async function* copies(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) yield new Uint8Array(piece);
}

const blockBytes = 2 * 1024 * 1024;
const pieceBytes = 1024 * 1024;
