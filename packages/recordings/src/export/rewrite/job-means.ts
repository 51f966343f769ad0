import { type HoldMemory, largeMemory } from "../../memory/large-memory.ts";
import type { RandomAccessSource } from "../../sources/source.ts";
import type { JobMeans } from "./rewrite-pool.ts";

interface Reader {
  signal?: AbortSignal | undefined;
  /** Default: the memory of the process. */
  hold?: HoldMemory | undefined;
}

/** What a job that reads much is helped with. It ends with its signal: the thread is free again. */
export function meansOf(recording: Pick<RandomAccessSource, "read">, reader: Reader): JobMeans {
  return {
    async read(offset, length) {
      reader.signal?.throwIfAborted();
      return recording.read(offset, length);
    },
    hold: holdOf(reader),
  };
}

export function holdOf({ signal, hold = (sizeBytes) => largeMemory.take(sizeBytes, signal) }: Reader): HoldMemory {
  return hold;
}
