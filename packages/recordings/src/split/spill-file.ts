import { type FileHandle, open, unlink } from "node:fs/promises";
import type { Compression } from "../codecs/compress.ts";
import { SourceChangedError } from "../sources/source.ts";

/** The bytes in the spill file behind a block's head. */
export interface BlockHead {
  readonly kind: "records" | "huge";
  readonly storedBytes: number;
  /** The size of the records; of a huge message the size of its record. */
  readonly uncompressedBytes: number;
}

/** The compression of blocks with records. */
export const SPILL_COMPRESSION: Compression = "lz4";

/** The kind, then two sizes. */
const HEAD_BYTES = 1 + 8 + 8;

/** A temporary file of blocks. It has no name any more once it is open, so that nothing of it is left by a process that is killed. */
export class SpillFile implements AsyncDisposable {
  readonly #file: FileHandle;
  #position = 0;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async create(path: string): Promise<SpillFile> {
    const file = await open(path, "wx+", 0o600);
    await unlink(path);
    return new SpillFile(file);
  }

  /** Appends a block, and answers where it stands. */
  async append(head: BlockHead, pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<number> {
    const place = this.#position;
    const bytes = Buffer.alloc(HEAD_BYTES);
    bytes.writeUInt8(head.kind === "huge" ? 1 : 0, 0);
    bytes.writeBigUInt64LE(BigInt(head.storedBytes), 1);
    bytes.writeBigUInt64LE(BigInt(head.uncompressedBytes), 9);
    await this.#write(bytes);
    for await (const piece of pieces) await this.#write(piece);
    if (this.#position !== place + HEAD_BYTES + head.storedBytes)
      throw new SourceChangedError("a message was not as long when it was read as its record says");
    return place;
  }

  async readHead(place: number): Promise<BlockHead> {
    const bytes = await this.#read(place, HEAD_BYTES);
    const kind = bytes.readUInt8(0) === 1 ? "huge" : "records";
    return {
      kind,
      storedBytes: Number(bytes.readBigUInt64LE(1)),
      uncompressedBytes: Number(bytes.readBigUInt64LE(9)),
    };
  }

  readStored(place: number, { storedBytes }: BlockHead): Promise<Buffer> {
    return this.#read(place + HEAD_BYTES, storedBytes);
  }

  /** Reads what is stored in a block in pieces with memory of their own. */
  async *readPieces(place: number, { storedBytes }: BlockHead): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < storedBytes; at += PIECE_BYTES)
      yield await this.#read(place + HEAD_BYTES + at, Math.min(PIECE_BYTES, storedBytes - at));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#file.close();
  }

  async #write(bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.byteLength; ) {
      const { bytesWritten } = await this.#file.write(bytes, done, bytes.byteLength - done, this.#position);
      done += bytesWritten;
      this.#position += bytesWritten;
    }
  }

  async #read(position: number, length: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafeSlow(length);
    for (let done = 0; done < length; ) {
      const { bytesRead } = await this.#file.read(bytes, done, length - done, position + done);
      if (bytesRead === 0) throw new SourceChangedError("the temporary file of the split ends too early");
      done += bytesRead;
    }
    return bytes;
  }
}

const PIECE_BYTES = 1024 * 1024;
