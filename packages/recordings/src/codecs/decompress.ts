import { promisify } from "node:util";
import { zstdDecompress } from "node:zlib";
import type Bzip2 from "@foxglove/wasm-bz2";
import { decompressFrame } from "lz4-napi";
import { RecordingFault } from "../reasons.ts";
import { loadBzip2 } from "./load-bzip2.ts";
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
 * Make one per recording: the bzip2 module keeps its memory for as long as it lives.
 */
export function createDecompressor(): Decompressor {
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
    const output = await refuseFailure(input, decompressWith(compression, input, await bzip2));
    return checkLength(input, output);
  };
}

function isKnownCompression(name: string): name is (typeof known)[number] {
  return (known as readonly string[]).includes(name);
}

const known = ["", "none", "zstd", "lz4", "bz2"] as const;

async function decompressWith(
  compression: "zstd" | "lz4" | "bz2",
  input: CompressedBytes,
  bzip2: Bzip2 | undefined,
): Promise<Uint8Array> {
  const { bytes, uncompressedBytes } = input;
  if (compression === "zstd") {
    const chunkSize = Math.min(Math.max(uncompressedBytes, 64), 8 * 1024 * 1024);
    return unzstd(bytes, { maxOutputLength: uncompressedBytes, chunkSize });
  }
  if (compression === "lz4") {
    const bound = boundLz4Frame(bytes);
    if (bound === undefined) throw new Error("not a whole LZ4 frame");
    if (bound > uncompressedBytes + lz4SlackBytes) throw new Error("larger than its header says");
    return decompressFrame(bytes);
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
