import { createDecompressor, type Decompressor } from "./codecs/decompress.ts";
import { defaultLimits, type InspectLimits } from "./limits.ts";
import type { RandomAccessSource } from "./source.ts";

/** What every reading step of one recording needs. */
export interface ReadContext {
  source: RandomAccessSource;
  limits: InspectLimits;
  signal: AbortSignal | undefined;
  decompress: Decompressor;
  /** What a window reader read last. */
  held: HeldBytes;
}

export interface HeldBytes {
  offset: number;
  bytes: Uint8Array;
}

export function createReadContext(
  source: RandomAccessSource,
  options: { limits?: Partial<InspectLimits> | undefined; signal?: AbortSignal | undefined; isBlocking?: boolean } = {},
): ReadContext {
  return {
    source,
    limits: { ...defaultLimits, ...options.limits },
    signal: options.signal,
    decompress: createDecompressor({ isBlocking: options.isBlocking ?? false }),
    held: { offset: 0, bytes: new Uint8Array(0) },
  };
}
