import type { FileSink } from "../parquet/parquet-file.ts";

/** Keeps the files of a set in memory. */
export class MemoryFiles {
  readonly #files = new Map<string, Buffer[]>();
  readonly #closed = new Set<string>();
  /** The most files that were open together. */
  mostOpen = 0;

  readonly open = (path: string): FileSink => {
    if (this.#files.has(path)) throw new Error(`${path} was opened twice`);
    const pieces: Buffer[] = [];
    this.#files.set(path, pieces);
    this.mostOpen = Math.max(this.mostOpen, this.#files.size - this.#closed.size);
    return {
      write: async (bytes) => void pieces.push(Buffer.from(bytes)),
      close: async () => void this.#closed.add(path),
    };
  };

  get paths(): string[] {
    return [...this.#closed].sort();
  }

  read(path: string): Buffer {
    if (!this.#closed.has(path)) throw new Error(`${path} was not written to its end`);
    return Buffer.concat(this.#files.get(path)!);
  }
}
