import { Decompressor } from "../codecs/decompress.ts";
import { defaultLimits, type InspectLimits } from "../faults/limits.ts";
import type { HoldMemory } from "../memory/large-memory.ts";
import type { RandomAccessSource } from "../sources/source.ts";

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

interface ReadOptions {
  limits?: Partial<InspectLimits> | undefined;
  signal?: AbortSignal | undefined;
  /** See {@link Decompressor}. */
  isBlocking?: boolean;
  hold?: HoldMemory | undefined;
}

export function createReadContext(source: RandomAccessSource, options: ReadOptions = {}): ReadContext {
  return {
    source,
    limits: { ...defaultLimits, ...options.limits },
    signal: options.signal,
    decompress: new Decompressor(options),
    held: { offset: 0, bytes: new Uint8Array(0) },
  };
}
