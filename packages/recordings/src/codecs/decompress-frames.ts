import { promisify } from "node:util";
import { constants, zstdDecompress, zstdDecompressSync } from "node:zlib";
import { asBuffer } from "../memory/as-buffer.ts";
import { onePiece, unlz4Pieces } from "./decompress-pieces.ts";
import type { Frame } from "./find-frames.ts";
import { loadLz4 } from "./load-lz4.ts";
import { findLz4Frames, type Lz4Frame } from "./lz4-frames.ts";
import { endOfBlocks, findZstdFrames } from "./zstd-frames.ts";

/** Frames that stand one behind the other, and how much they should hold. */
interface Framed {
  readonly compression: "zstd" | "lz4";
  readonly bytes: Uint8Array;
  readonly uncompressedBytes: number;
}

/** Decompresses all frames, because a decoder alone ends at the end of the first. */
export async function decompressFrames(
  { compression, bytes, uncompressedBytes }: Framed,
  isBlocking: boolean,
): Promise<Uint8Array> {
  const frames = framesOf(compression, bytes);
  if (frames.length === 0) throw new Error("not a whole frame");
  const parts: Uint8Array[] = [];
  let leftBytes = uncompressedBytes;
  for (const frame of frames) {
    const part = bytes.subarray(frame.start, frame.end);
    const output = isLz4(frame)
      ? await unlz4(part, frame, { leftBytes, isBlocking })
      : await unzstd(part, { leftBytes, isBlocking });
    leftBytes -= output.byteLength;
    parts.push(output);
  }
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}

/** Whether the bytes are nothing but one frame, which is what other readers are sure to read. */
export function isOneFrame(compression: string, bytes: Uint8Array): boolean {
  if (compression === "") return true;
  const frames = framesOf(compression, bytes);
  return frames.length === 1 && frames[0]!.start === 0 && frames[0]!.end === bytes.byteLength;
}

function framesOf(compression: string, bytes: Uint8Array): (Frame | Lz4Frame)[] {
  return compression === "zstd" ? findZstdFrames(bytes) : findLz4Frames(bytes);
}

function isLz4(frame: Frame | Lz4Frame): frame is Lz4Frame {
  return "mostBytes" in frame;
}

interface Bounds {
  readonly leftBytes: number;
  readonly isBlocking: boolean;
}

async function unzstd(frame: Uint8Array, { leftBytes, isBlocking }: Bounds): Promise<Uint8Array> {
  const options = { maxOutputLength: Math.max(leftBytes, 1), chunkSize: roomFor(leftBytes) };
  return isBlocking ? zstdDecompressSync(frame, options) : unzstdAside(frame, options);
}

/** There is room for one byte more than needed, because a full buffer would make the decoder allocate another. */
function roomFor(sizeBytes: number): number {
  return Math.min(Math.max(sizeBytes + 1, 64), 8 * 1024 * 1024);
}

interface Wanted {
  readonly bytes: Uint8Array;
  readonly uncompressedBytes: number;
  /** Only the first so many bytes are needed. */
  readonly wantedBytes?: number | undefined;
}

/** Decompresses only the blocks that are needed, if they are clearly fewer than all. */
export function unzstdBeginning({ bytes, uncompressedBytes, wantedBytes }: Wanted): Uint8Array | undefined {
  if (wantedBytes === undefined || wantedBytes > uncompressedBytes * MOST_BEGUN_SHARE) return undefined;
  const [frame, ...others] = findZstdFrames(bytes);
  if (!frame || frame.start > 0 || others.length > 0) return undefined;
  const end = endOfBlocks(bytes, wantedBytes, uncompressedBytes);
  if (end === undefined || end > bytes.byteLength * MOST_BEGUN_SHARE) return undefined;
  const options = { maxOutputLength: uncompressedBytes, chunkSize: roomFor(uncompressedBytes) };
  const begun = zstdDecompressSync(bytes.subarray(0, end), { ...options, finishFlush: constants.ZSTD_e_continue });
  return begun.byteLength >= wantedBytes ? begun : undefined;
}

/** A frame without its end is decompressed by way of a buffer, which takes longer, so that a larger share gains nothing. */
const MOST_BEGUN_SHARE = 0.85;

const unzstdAside = promisify(zstdDecompress);

async function unlz4(bytes: Uint8Array, frame: Lz4Frame, { leftBytes, isBlocking }: Bounds): Promise<Uint8Array> {
  if (frame.mostBytes > leftBytes + LZ4_SLACK_BYTES) return await unlz4Filled(bytes, { leftBytes, isBlocking });
  if (!isBlocking) return loadLz4().decompressFrame(bytes);
  return loadLz4().decompressFrameSync(asBuffer(bytes));
}

/**
 * Decompresses a frame whose bound is far above what its chunk promises. The bound counts blocks as full: flushed frames have many blocks
 * that are not, and so do frames that lie.
 */
async function unlz4Filled(bytes: Uint8Array, { leftBytes, isBlocking }: Bounds): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let filledBytes = 0;
  for await (const part of unlz4Pieces(onePiece(bytes), { isBlocking })) {
    filledBytes += part.byteLength;
    if (filledBytes > leftBytes) throw new Error("larger than its header says");
    parts.push(part);
  }
  return Buffer.concat(parts, filledBytes);
}

const LZ4_SLACK_BYTES = 4 * 1024 * 1024;
