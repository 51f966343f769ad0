import { promisify } from "node:util";
import { zstdCompress } from "node:zlib";
import { compressFrame } from "lz4-napi";

export type Compression = "" | "lz4" | "zstd";

/** Off the event loop; LZ4 as a frame, which is what MCAP means by "lz4". */
export async function compress(compression: Compression, bytes: Uint8Array): Promise<Uint8Array> {
  if (compression === "zstd") return zstd(bytes);
  return compression === "lz4" ? compressFrame(bytes) : bytes;
}

const zstd = promisify(zstdCompress);
