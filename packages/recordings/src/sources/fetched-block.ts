import type { BlockMemory } from "../memory/block-memory.ts";
import type { Extent } from "./coalesce.ts";
import type { SourceRange } from "./source.ts";

/** Answers the bytes of a range as they come, in pieces whose memory is the reader's. Leaving it early, or aborting it, ends its request. */
export type StreamRange = (range: SourceRange, signal: AbortSignal) => AsyncIterable<Uint8Array>;

export interface Fetching {
  readonly stream: StreamRange;
  /** Where the fetched bytes lie. */
  readonly blocks: BlockMemory;
}

/** An extent that is fetched by one request, ahead of its readers, who may have what has come already. */
export class FetchedBlock implements Disposable {
  readonly start: number;
  readonly end: number;
  readonly #ending = new AbortController();
  readonly #blocks: BlockMemory;
  /** Undefined once the memory was given back. */
  #bytes: Uint8Array | undefined;
  readonly #waiting = new Set<{ untilBytes: number; go: () => void }>();
  #receivedBytes = 0;
  #unreadBytes: number;
  #readers = 0;
  #failure: { error: unknown } | undefined;
  #isFetching = true;

  constructor({ start, end, wantedBytes }: Extent, { stream, blocks }: Fetching) {
    this.start = start;
    this.end = end;
    this.#unreadBytes = wantedBytes;
    this.#blocks = blocks;
    this.#bytes = blocks.take(end - start);
    void this.#fetch(stream);
  }

  /** Whether everything that was wanted of it was read. */
  get isDone(): boolean {
    return this.#unreadBytes <= 0;
  }

  get hasReaders(): boolean {
    return this.#readers > 0;
  }

  /** Fills `target` with the bytes from `offset` on. Throws why they do not come. */
  async readInto(target: Uint8Array, offset: number): Promise<void> {
    this.#unreadBytes -= target.byteLength;
    this.#readers += 1;
    try {
      await this.#untilReceived(offset - this.start + target.byteLength);
      const from = offset - this.start;
      target.set(this.#bytes!.subarray(from, from + target.byteLength));
    } finally {
      this.#readers -= 1;
      this.#giveBack();
    }
  }

  async #fetch(stream: StreamRange): Promise<void> {
    try {
      for await (const piece of stream(this, this.#ending.signal)) {
        this.#bytes!.set(piece, this.#receivedBytes);
        this.#receivedBytes += piece.byteLength;
        freePiece(piece);
        this.#wake();
      }
      if (this.#receivedBytes !== this.end - this.start) throw new Error("a range came with another length");
    } catch (error) {
      this.#failure = { error };
    }
    this.#isFetching = false;
    this.#wake();
    this.#giveBack();
  }

  async #untilReceived(untilBytes: number): Promise<void> {
    if (this.#receivedBytes < untilBytes && !this.#failure) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.add({ untilBytes, go: resolve });
      await promise;
    }
    if (this.#receivedBytes < untilBytes) throw this.#failure!.error;
  }

  #wake(): void {
    for (const waiter of this.#waiting) {
      if (this.#receivedBytes < waiter.untilBytes && !this.#failure) continue;
      this.#waiting.delete(waiter);
      waiter.go();
    }
  }

  /** Ends its request. Readers who wait are refused. */
  [Symbol.dispose](): void {
    this.#ending.abort(new Error("the source was closed"));
    this.#giveBack();
  }

  /** Gives the memory back once the block was disposed of and nothing reads or writes it any more. */
  #giveBack(): void {
    if (!this.#bytes || !this.#ending.signal.aborted || this.#isFetching || this.hasReaders) return;
    this.#blocks.giveBack(this.#bytes);
    this.#bytes = undefined;
  }
}

/** Without this, V8 would look for garbage after each few dozen megabytes, and that takes longer than receiving them. */
function freePiece({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && byteLength === buffer.byteLength) buffer.transfer(0);
}
