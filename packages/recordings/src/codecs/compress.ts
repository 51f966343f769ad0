import { promisify } from "node:util";
import { constants, type ZstdOptions, zstdCompress, zstdCompressSync } from "node:zlib";
import { asBuffer } from "../memory/as-buffer.ts";
import { loadLz4 } from "./load-lz4.ts";

export type Compression = "" | "lz4" | "zstd";

/** Compresses outside of the event loop. LZ4 is written as a frame, which is what MCAP means by "lz4". */
export async function compress(compression: Compression, bytes: Uint8Array): Promise<Uint8Array> {
  if (compression === "zstd") return zstd(bytes);
  return compression === "lz4" ? loadLz4().compressFrame(bytes) : bytes;
}

const zstd = promisify(zstdCompress);

/** Compresses in a worker thread, which it blocks. */
export function compressSync(compression: Compression, bytes: Uint8Array): Uint8Array {
  if (compression === "zstd") return zstdCompressSync(bytes, optionsFor(bytes.byteLength));
  if (compression === "") return bytes;
  return loadLz4().compressFrameSync(asBuffer(bytes));
}

/** A known size saves memory on both sides. There is room for any result, so that it need not be put together from pieces. */
function optionsFor(sizeBytes: number): ZstdOptions {
  return { params: zstdParams, pledgedSrcSize: sizeBytes, chunkSize: sizeBytes + (sizeBytes >> 8) + 1024 };
}

/** Level 1 is three times as fast as the default level, for results that are up to 6 % larger. */
export const zstdParams = { [constants.ZSTD_c_compressionLevel]: 1 };
