import type { ReadRange } from "./large-content.ts";
import { readStored } from "./stored-run.ts";

/** Where a thread that reads much reads from: a file itself, or, without a descriptor, what the main thread reads for it. */
export interface ReadFrom {
  descriptor: number | undefined;
}

/** The main thread is asked for bytes. */
export interface RangeQuestion {
  range: { id: number; offset: number; length: number };
}

/** Without bytes: reading failed, and the main thread knows why. */
export interface RangeAnswer {
  id: number;
  bytes: Uint8Array | undefined;
}

export interface SourceReading {
  of(job: object, stop: Int32Array): ReadRange;
  answer(answer: RangeAnswer): void;
}

export function createReading(ask: (question: RangeQuestion) => void): SourceReading {
  const waiting = new Map<number, PromiseWithResolvers<Uint8Array>>();
  let lastId = 0;
  const askFor: ReadRange = (offset, length) => {
    const answered = Promise.withResolvers<Uint8Array>();
    lastId += 1;
    waiting.set(lastId, answered);
    ask({ range: { id: lastId, offset, length } });
    return answered.promise;
  };
  return {
    of(job, stop) {
      const { descriptor } = "readFrom" in job ? (job.readFrom as ReadFrom) : { descriptor: undefined };
      const read = descriptor === undefined ? askFor : readerOf(descriptor);
      return async (offset, length) => {
        if (Atomics.load(stop, 0) !== 0) throw new Error("the export was ended");
        return read(offset, length);
      };
    },
    answer({ id, bytes }) {
      const { resolve, reject } = waiting.get(id)!;
      waiting.delete(id);
      if (bytes) resolve(bytes);
      else reject(new Error("reading failed"));
    },
  };
}

function readerOf(descriptor: number): ReadRange {
  const own = { take: (sizeBytes: number) => Buffer.allocUnsafeSlow(sizeBytes) };
  return async (offset, length) => readStored({ descriptor }, { offset, length }, own);
}
