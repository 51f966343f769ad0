import { isMarkedAsUntransferable } from "node:worker_threads";
import type { HoldMemory } from "../../memory/large-memory.ts";
import { type ReadRange, readStored } from "./stored-run.ts";

/** Where a thread that reads much reads from: a file, or, without a descriptor, what the main thread reads for it. */
export interface ReadFrom {
  readonly descriptor: number | undefined;
}

/** A thread asks the main thread for bytes or for a turn to hold much memory, and says when the turn is over. */
export type Question =
  | { readonly range: { readonly id: number; readonly offset: number; readonly length: number } }
  | { readonly hold: { readonly id: number; readonly sizeBytes: number } }
  | { readonly release: { readonly id: number } };

/** The answer to a request for a turn has no bytes. `failed` says that the main thread keeps the reason. */
export interface Answer {
  readonly id: number;
  readonly bytes?: Uint8Array;
  readonly failed?: boolean;
}

export interface SourceReading {
  of(job: object, stop: Int32Array): ReadRange;
  readonly hold: HoldMemory;
  answer(answer: Answer): void;
}

export function createReading(send: (question: Question) => void): SourceReading {
  const waiting = new Map<number, PromiseWithResolvers<Answer>>();
  let lastId = 0;
  const ask = (questionOf: (id: number) => Question): Promise<Answer> => {
    const answered = Promise.withResolvers<Answer>();
    lastId += 1;
    waiting.set(lastId, answered);
    send(questionOf(lastId));
    return answered.promise;
  };
  const askFor: ReadRange = async (offset, length) => {
    const { bytes } = await ask((id) => ({ range: { id, offset, length } }));
    return bytes!;
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
    async hold(sizeBytes) {
      const { id } = await ask((asked) => ({ hold: { id: asked, sizeBytes } }));
      return { [Symbol.dispose]: () => send({ release: { id } }) };
    },
    answer(answer) {
      const { resolve, reject } = waiting.get(answer.id)!;
      waiting.delete(answer.id);
      if (answer.failed) reject(new Error("the main thread failed to answer"));
      else resolve(answer);
    },
  };
}

function readerOf(descriptor: number): ReadRange {
  const own = { take: (sizeBytes: number) => Buffer.allocUnsafeSlow(sizeBytes) };
  return async (offset, length) => readStored({ descriptor }, { offset, length }, own);
}

/**
 * Lists the memory of everything binary in a message between threads, which is moved instead of copied: the sender must not use it any
 * more. Memory that Node shares among small buffers is copied.
 */
export function transferOf(message: unknown): ArrayBuffer[] {
  const found = new Set<ArrayBuffer>();
  collect(message, found);
  return [...found];
}

function collect(value: unknown, found: Set<ArrayBuffer>): void {
  if (typeof value !== "object" || value === null || value instanceof Map) return;
  if (!ArrayBuffer.isView(value)) {
    for (const part of Object.values(value)) collect(part, found);
    return;
  }
  const { buffer } = value;
  if (buffer instanceof ArrayBuffer && !isMarkedAsUntransferable(buffer)) found.add(buffer);
}
