import type { FileHandle } from "node:fs/promises";
import { open, rm } from "node:fs/promises";
import { writeFully } from "./durable-file.ts";
import { type KeyFiles, temporaryFile } from "./file-layout.ts";
import type { LentBytes, PartMemory } from "./part-memory.ts";

const MAX_BYTES_IN_MEMORY = 16 * 1024 * 1024;
const COPY_BYTES = 1024 * 1024;

/** The bytes of a part wait in this buffer until they are verified. */
export interface PartBuffer extends AsyncDisposable {
  add(piece: Uint8Array, offset: number): Promise<void>;
  /** Yields the first bytes; each block is valid until the next one is requested. */
  read(lengthBytes: number): AsyncIterable<Uint8Array>;
  writeTo(file: FileHandle, position: number): Promise<void>;
}

/** Opens a buffer in memory while there is room and the part is not large, else in a temporary file. */
export async function openPartBuffer(files: KeyFiles, lengthBytes: number, memory: PartMemory): Promise<PartBuffer> {
  const lent = lengthBytes <= MAX_BYTES_IN_MEMORY ? memory.take(lengthBytes) : undefined;
  return lent ? bufferInMemory(lent) : bufferInFile(temporaryFile(files), lengthBytes);
}

/** The memory is one buffer, so that a body in tiny pieces costs no more. */
export function bufferInMemory(lent: LentBytes): PartBuffer {
  const { bytes } = lent;
  return {
    add: async (piece, offset) => bytes.set(piece, offset),
    async *read(lengthBytes) {
      yield bytes.subarray(0, lengthBytes);
    },
    writeTo: (file, position) => writeFully(file, bytes, position),
    [Symbol.asyncDispose]: async () => lent[Symbol.dispose](),
  };
}

async function bufferInFile(path: string, lengthBytes: number): Promise<PartBuffer> {
  const spool = await open(path, "wx+", 0o600);
  async function* read(wantedBytes: number) {
    const block = Buffer.allocUnsafeSlow(Math.min(COPY_BYTES, wantedBytes));
    for (let at = 0; at < wantedBytes; ) {
      const { bytesRead } = await spool.read(block, 0, Math.min(block.byteLength, wantedBytes - at), at);
      if (bytesRead === 0) throw new Error(`${path} ends at ${at} of ${wantedBytes} bytes`);
      yield block.subarray(0, bytesRead);
      at += bytesRead;
    }
  }
  return {
    add: (piece, offset) => writeFully(spool, piece, offset),
    read,
    async writeTo(file, position) {
      let at = position;
      for await (const block of read(lengthBytes)) {
        await writeFully(file, block, at);
        at += block.byteLength;
      }
    },
    async [Symbol.asyncDispose]() {
      await spool.close();
      await rm(path, { force: true });
    },
  };
}
