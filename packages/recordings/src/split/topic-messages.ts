import { compressSync } from "../codecs/compress.ts";
import { nextRound } from "../codecs/one-by-one.ts";
import { RECORD_HEAD_BYTES } from "../mcap/opcodes.ts";
import { asBuffer } from "../memory/as-buffer.ts";
import { freeMemory, freeOwn } from "../memory/free-memory.ts";
import { TopicDigest } from "./digest-topic.ts";
import { SPILL_COMPRESSION, type SpillFile } from "./spill-file.ts";

/** The messages of one topic while the recording is read: the last ones in memory, those before in blocks of the spill file. */
export class TopicMessages {
  readonly digest: TopicDigest = new TopicDigest();
  /** Where the blocks stand, in the order of the messages. */
  readonly blocks: number[] = [];
  #records = new Uint8Array(0);
  #heldBytes = 0;

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Copies one record. */
  add(records: Uint8Array, start: number, end: number): void {
    const at = this.#heldBytes;
    const sizeBytes = at + end - start;
    if (sizeBytes > this.#records.byteLength) {
      const grown = new Uint8Array(Math.max(2 * this.#records.byteLength, sizeBytes));
      grown.set(this.#records.subarray(0, at));
      freeMemory(this.#records);
      this.#records = grown;
    }
    this.#records.set(records.subarray(start, end), at);
    this.#heldBytes = sizeBytes;
  }

  /** Moves what is in memory to the file. */
  async spill(file: SpillFile): Promise<void> {
    if (this.#heldBytes === 0) return;
    const records = this.#records.subarray(0, this.#heldBytes);
    this.#records = new Uint8Array(0);
    this.#heldBytes = 0;
    this.digest.update(records);
    // The call takes a millisecond or two; the asynchronous one keeps its memory for long.
    await nextRound();
    const stored = compressSync(SPILL_COMPRESSION, records);
    const head = { kind: "records", storedBytes: stored.byteLength, uncompressedBytes: records.byteLength } as const;
    this.blocks.push(await file.append(head, [stored]));
    freeOwn(stored);
    freeMemory(records);
  }

  /** Moves a message that is too large to be held, of which only the record without its data is in memory. */
  async spillHuge(file: SpillFile, head: Uint8Array, data: AsyncIterable<Uint8Array>): Promise<void> {
    await this.spill(file);
    const sizeBytes = RECORD_HEAD_BYTES + Number(asBuffer(head).readBigUInt64LE(1));
    const block = { kind: "huge", storedBytes: sizeBytes, uncompressedBytes: sizeBytes } as const;
    this.blocks.push(await file.append(block, this.#digested(head, data)));
  }

  async *#digested(head: Uint8Array, data: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    this.digest.update(head);
    yield head;
    for await (const piece of data) {
      this.digest.update(piece);
      yield piece; // is written when the next one is asked for
      freeOwn(piece);
    }
  }
}
