import { promisify } from "node:util";
import { zstdDecompress, zstdDecompressSync } from "node:zlib";
import type Bzip2 from "@foxglove/wasm-bz2";
import { RecordingFault } from "../reasons.ts";
import { loadBzip2 } from "./load-bzip2.ts";
import { loadLz4 } from "./load-lz4.ts";
import { boundLz4Frame } from "./lz4-frame-bound.ts";

/** `place` begins the fault's text, e.g. "the chunk at byte 412". */
export interface CompressedBytes {
  compression: string;
  bytes: Uint8Array;
  uncompressedBytes: number;
  place: string;
}

export type Decompressor = (input: CompressedBytes) => Promise<Uint8Array>;

/**
 * Decompresses chunks to exactly the size they promised, or faults with `BadChunk` or `UnknownCompression`.
 * Make one per recording: the bzip2 module keeps its memory for as long as it lives. `isBlocking`: for worker threads,
 * which gain nothing by handing the work to yet another thread.
 */
export function createDecompressor({ isBlocking = false } = {}): Decompressor {
  let bzip2: Promise<Bzip2> | undefined;
  return async (input) => {
    const { compression, bytes, uncompressedBytes } = input;
    if (!isKnownCompression(compression)) {
      throw new RecordingFault(
        "UnknownCompression",
        `${input.place} is compressed with "${compression.slice(0, 32)}", which is not read; convert the file to lz4 or zstd`,
      );
    }
    if (compression === "" || compression === "none") return checkLength(input, bytes);
    if (uncompressedBytes === 0) return new Uint8Array(0);
    if (compression === "bz2") bzip2 ??= loadBzip2();
    const output = await refuseFailure(
      input,
      decompressWith({ ...input, compression }, { bzip2: await bzip2, isBlocking }),
    );
    return checkLength(input, output);
  };
}

function isKnownCompression(name: string): name is (typeof known)[number] {
  return (known as readonly string[]).includes(name);
}

const known = ["", "none", "zstd", "lz4", "bz2"] as const;

async function decompressWith(
  { compression, bytes, uncompressedBytes }: CompressedBytes & { compression: "zstd" | "lz4" | "bz2" },
  { bzip2, isBlocking }: { bzip2: Bzip2 | undefined; isBlocking: boolean },
): Promise<Uint8Array> {
  if (compression === "zstd") {
    // One byte more than needed: a full buffer would make the decoder get itself another.
    const chunkSize = Math.min(Math.max(uncompressedBytes + 1, 64), 8 * 1024 * 1024);
    const options = { maxOutputLength: uncompressedBytes, chunkSize };
    return isBlocking ? zstdDecompressSync(bytes, options) : unzstd(bytes, options);
  }
  if (compression === "lz4") {
    const bound = boundLz4Frame(bytes);
    if (bound === undefined) throw new Error("not a whole LZ4 frame");
    if (bound > uncompressedBytes + lz4SlackBytes) throw new Error("larger than its header says");
    return isBlocking
      ? loadLz4().decompressFrameSync(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
      : loadLz4().decompressFrame(bytes);
  }
  return bzip2!.decompress(bytes, uncompressedBytes);
}

const unzstd = promisify(zstdDecompress);

/** The bound of a frame exceeds its content by the unfilled rest of each block; flushed frames have many. */
const lz4SlackBytes = 256 * 1024 * 1024;

/** Decoders throw plain errors without a class: whatever they throw means that the bytes are not theirs. */
async function refuseFailure(input: CompressedBytes, output: Promise<Uint8Array>): Promise<Uint8Array> {
  try {
    return await output;
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new RecordingFault("BadChunk", `${input.place} does not decompress (${input.compression}: ${detail})`);
  }
}

function checkLength(input: CompressedBytes, output: Uint8Array): Uint8Array {
  if (output.byteLength === input.uncompressedBytes) return output;
  const promised = `${output.byteLength} bytes instead of the ${input.uncompressedBytes} that its header promises`;
  throw new RecordingFault("BadChunk", `${input.place} holds ${promised}`);
}
