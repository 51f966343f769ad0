// This reads as much of the tar format as Postgres writes: names of at most 100 bytes, and sizes in octal digits.

import { DamagedBackupError } from "./backup-errors.ts";

const BLOCK_BYTES = 512;

export interface TarEntry {
  readonly name: string;
  readonly kind: "file" | "directory";
  readonly sizeBytes: number;
  /** It must be read to its end before the next entry is requested. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Yields the entries of an archive in their order. */
export async function* readTar(archive: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry, void> {
  const bytes = new ByteReader(archive);
  for (;;) {
    const header = await bytes.readExactly(BLOCK_BYTES);
    if (header.every((byte) => byte === 0)) return;
    const entry = readHeader(header);
    const body = bytes.stream(entry.sizeBytes);
    yield { ...entry, body };
    for await (const _ of body); // skips what the caller did not read
    await bytes.readExactly((BLOCK_BYTES - (entry.sizeBytes % BLOCK_BYTES)) % BLOCK_BYTES);
  }
}

function readHeader(header: Buffer): Omit<TarEntry, "body"> {
  const textAt = (start: number, end: number) => header.toString("utf8", start, end).replace(/\0.*$/s, "");
  const [name, prefix, type] = [textAt(0, 100), textAt(345, 500), textAt(156, 157)];
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  if (sum !== Number.parseInt(textAt(148, 156), 8))
    throw new DamagedBackupError("the archive of the database is damaged");
  const path = prefix === "" ? name : `${prefix}/${name}`;
  const kind = type === "5" ? "directory" : "file";
  if (!["5", "0", ""].includes(type))
    throw new DamagedBackupError(`${path} in the archive is neither a file nor a directory`);
  if (path.startsWith("/") || path.split("/").includes(".."))
    throw new DamagedBackupError(`${path} leads out of the archive`);
  return { name: path, kind, sizeBytes: kind === "file" ? Number.parseInt(textAt(124, 136), 8) : 0 };
}

class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async readExactly(length: number): Promise<Buffer> {
    const pieces: Uint8Array[] = [];
    for await (const piece of this.stream(length)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  async *stream(length: number): AsyncGenerator<Uint8Array, void> {
    for (let left = length; left > 0; ) {
      if (this.#rest.byteLength === 0) this.#rest = await this.#next();
      const piece = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(piece.byteLength);
      left -= piece.byteLength;
      yield piece;
    }
  }

  async #next(): Promise<Uint8Array> {
    const { value, done } = await this.#source.next();
    if (done) throw new DamagedBackupError("the archive of the database ends too early");
    return value;
  }
}
