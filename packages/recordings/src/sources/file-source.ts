import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { isInside, type RandomAccessSource, SourceChangedError } from "./source.ts";

/** Identity of a file on disk; any change of it is another version of the file. */
export interface FileStat {
  readonly sizeBytes: number;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly inode: bigint;
  readonly device: bigint;
}

/** A regular file through one open descriptor, so that a rename or replacement cannot mix two files. */
export class FileSource implements RandomAccessSource, AsyncDisposable {
  readonly sizeBytes: number;
  readonly stat: FileStat;
  readonly #handle: FileHandle;

  private constructor(handle: FileHandle, stat: FileStat) {
    this.#handle = handle;
    this.stat = stat;
    this.sizeBytes = stat.sizeBytes;
  }

  /** Follows no symlink (`ELOOP`) and refuses what is not a regular file. */
  static async open(path: string | Buffer): Promise<FileSource> {
    // O_NONBLOCK: opening a FIFO would otherwise wait for its writer.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const handle = await open(path, flags);
    try {
      const stats = await handle.stat({ bigint: true });
      if (!stats.isFile()) throw new Error(`${String(path)} is not a regular file`);
      return new FileSource(handle, toFileStat(stats));
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  get descriptor(): number {
    return this.#handle.fd;
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    this.#requireInside(offset, length);
    // The memory is not zeroed, because every byte of it is read.
    const bytes = new Uint8Array(Buffer.allocUnsafeSlow(length).buffer);
    await this.readInto(bytes, offset);
    return bytes;
  }

  /** Fills `target` with the bytes from `offset` on, so that a caller who reads much can use the same memory again. */
  async readInto(target: Uint8Array, offset: number): Promise<void> {
    const { length } = target;
    this.#requireInside(offset, length);
    for (let filled = 0; filled < length; ) {
      const { bytesRead } = await this.#handle.read(target, filled, length - filled, offset + filled);
      if (bytesRead === 0) throw new SourceChangedError(`the file ended at byte ${offset + filled} while being read`);
      filled += bytesRead;
    }
  }

  #requireInside(offset: number, length: number): void {
    if (isInside(offset, length, this.sizeBytes)) return;
    throw new SourceChangedError(`bytes ${offset}..${offset + length} lie outside of ${this.sizeBytes} bytes`);
  }

  /** The identity of the opened file now. It differs from `stat` when the file was written to. */
  async restat(): Promise<FileStat> {
    return toFileStat(await this.#handle.stat({ bigint: true }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }
}

function toFileStat(stats: BigIntStats): FileStat {
  return {
    sizeBytes: Number(stats.size),
    mtimeNs: stats.mtimeNs,
    ctimeNs: stats.ctimeNs,
    inode: stats.ino,
    device: stats.dev,
  };
}
