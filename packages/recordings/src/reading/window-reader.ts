import { RecordingError } from "../faults/reasons.ts";
import { freeMemory } from "../memory/free-memory.ts";
import { isInside } from "../sources/source.ts";
import type { ReadContext } from "./read-context.ts";

/**
 * Reads a file mostly forward through one window. The window starts small and doubles while reading is contiguous, or skips
 * less than a window, so that hopping from chunk header to chunk header reads little and a dense file is read in large pieces.
 */
export interface WindowReader {
  /** Answers the bytes if the window holds them, which saves the caller an await. They are only valid until the next `fetch`. */
  peek(offset: number, length: number): Uint8Array | undefined;
  /** Throws `LengthBeyondFile` if the file ends before. */
  fetch(offset: number, length: number): Promise<Uint8Array>;
}

export function openWindowReader(context: ReadContext): WindowReader {
  const { source, signal } = context;
  let windowStart = 0;
  let window: Uint8Array = new Uint8Array(0);
  let windowBytes = MIN_WINDOW_BYTES;

  const peek = (offset: number, length: number): Uint8Array | undefined => {
    const from = offset - windowStart;
    if (from < 0 || from + length > window.byteLength) return undefined;
    return window.subarray(from, from + length);
  };

  const fetch = async (offset: number, length: number): Promise<Uint8Array> => {
    signal?.throwIfAborted();
    const held = peek(offset, length);
    if (held) return held;
    refuseBeyond({ offset, length, sizeBytes: source.sizeBytes });
    const isContiguous = offset >= windowStart && offset <= windowStart + window.byteLength + windowBytes;
    windowBytes = isContiguous ? Math.min(windowBytes * 2, MAX_WINDOW_BYTES) : MIN_WINDOW_BYTES;
    // Thousands of windows in a row would pile up before the garbage collector takes them.
    freeMemory(window);
    context.held = { offset: 0, bytes: new Uint8Array(0) };
    window = context.held.bytes;
    window = await source.read(offset, Math.min(Math.max(length, windowBytes), source.sizeBytes - offset));
    windowStart = offset;
    context.held = { offset, bytes: window };
    return window.subarray(0, length);
  };

  return { peek, fetch };
}

/**
 * Reads a range into a buffer of its own. Small chunks and attachments mostly lie in the window that a reader holds, and are then not read
 * again.
 */
export async function readRange({ source, held }: ReadContext, offset: number, length: number): Promise<Uint8Array> {
  const from = offset - held.offset;
  if (!isInside(from, length, held.bytes.byteLength)) return source.read(offset, length);
  return new Uint8Array(held.bytes.subarray(from, from + length));
}

const MIN_WINDOW_BYTES = 4 * 1024;
const MAX_WINDOW_BYTES = 1024 * 1024;

interface WantedRange {
  readonly offset: number;
  readonly length: number;
  readonly sizeBytes: number;
  /** The length as the file gives it, which may be larger than a `number` holds. */
  readonly exactLength?: bigint;
}

/** Every length that comes from a file passes here before anything is allocated for it. */
export function refuseBeyond(range: WantedRange): void {
  const { offset, length, sizeBytes, exactLength = length } = range;
  if (offset >= 0 && length >= 0 && offset + length <= sizeBytes) return;
  const problem = offset > sizeBytes || length < 0 ? "cannot be there" : `needs ${exactLength} bytes`;
  throw new RecordingError(
    "LengthBeyondFile",
    `what stands at byte ${offset} ${problem}: the file ends at byte ${sizeBytes}`,
  );
}
