import { Decompressor } from "../codecs/decompress.ts";
import { defaultLimits, type InspectLimits } from "../faults/limits.ts";
import type { HoldMemory } from "../memory/large-memory.ts";
import type { RandomAccessSource } from "../sources/source.ts";

/** The state that every reading step of one recording needs. */
export interface ReadContext {
  readonly source: RandomAccessSource;
  readonly limits: InspectLimits;
  readonly signal: AbortSignal | undefined;
  readonly decompress: Decompressor;
  /** The bytes that a window reader read last. */
  held: HeldBytes;
}

export interface HeldBytes {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

interface ReadOptions {
  readonly limits?: Partial<InspectLimits> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** See {@link Decompressor}. */
  readonly isBlocking?: boolean;
  readonly hold?: HoldMemory | undefined;
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
