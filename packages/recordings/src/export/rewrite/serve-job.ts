import type { Worker } from "node:worker_threads";
import { type HoldMemory, holdFreely, largeMemory } from "../../memory/large-memory.ts";
import { type RandomAccessSource, SourceChangedError } from "../../sources/source.ts";
import type { Job, JobResults } from "./jobs.ts";
import type { JobAnswer, ToWorker } from "./rewrite-worker.ts";
import { type Answer, type Question, transferOf } from "./thread-messages.ts";

/** A job that waits for a thread. */
export interface WaitingJob {
  readonly job: Job;
  readonly stop: Int32Array;
  readonly means: JobMeans;
  resolve(result: JobResults[Job["kind"]]): void;
  reject(error: unknown): void;
}

/** Runs one job on one thread. `onFree` is called when the thread can take another, and never when it ended. */
export function serveJob(worker: Worker, { job, stop, means, resolve, reject }: WaitingJob, onFree: () => void): void {
  const stopListening = (): void => {
    worker.off("message", onMessage).off("error", onError).off("exit", onExit).unref();
    help.end();
  };
  const send = (message: ToWorker): void => worker.postMessage(message, transferOf(message));
  const help = helpWith(means, send);
  const onMessage = (answer: JobAnswer): void => {
    if ("range" in answer || "hold" in answer || "release" in answer) {
      help.answer(answer);
      return;
    }
    stopListening();
    if ("result" in answer) resolve(answer.result);
    else if (help.failure) reject(help.failure.error);
    else if ("error" in answer) reject(answer.error);
    else reject(new SourceChangedError(answer.changed));
    onFree();
  };
  const onError = (error: unknown): void => {
    stopListening();
    reject(error);
  };
  const onExit = (): void => onError(new Error("a thread that rewrites chunks ended early"));
  worker.on("message", onMessage).on("error", onError).on("exit", onExit).ref();
  try {
    send({ job, stop });
  } catch (error) {
    onError(error);
    queueMicrotask(onFree);
  }
}

/** Does what a thread asks for. It keeps the reason of a failure, because errors lose their class on the way between threads. */
function helpWith({ read, hold = holdFreely }: JobMeans, send: (answer: Answer) => void) {
  const held = new Map<number, Disposable>();
  let hasEnded = false;
  const help = {
    failure: undefined as { error: unknown } | undefined,
    answer(question: Question): void {
      if ("release" in question) {
        release(question.release.id);
        return;
      }
      const { id } = "range" in question ? question.range : question.hold;
      const done = "range" in question ? readRange(question.range) : take(question.hold);
      done.then(send, (error: unknown) => {
        help.failure = { error };
        send({ id, failed: true });
      });
    },
    end(): void {
      hasEnded = true;
      for (const id of [...held.keys()]) release(id);
    },
  };
  const readRange = async ({ id, offset, length }: { id: number; offset: number; length: number }): Promise<Answer> => {
    return { id, bytes: ownBytes(await read!(offset, length)) };
  };
  const take = async ({ id, sizeBytes }: { id: number; sizeBytes: number }): Promise<Answer> => {
    held.set(id, await hold(sizeBytes));
    if (hasEnded) release(id);
    return { id };
  };
  const release = (id: number): void => {
    held.get(id)?.[Symbol.dispose]();
    held.delete(id);
  };
  return help;
}

/** Bytes that share their memory with others cannot be moved to a thread, and are copied. */
function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}

/** The work of this thread for a job that reads much. */
export interface JobMeans extends Partial<Pick<RandomAccessSource, "read">> {
  /** Asked before the job holds much memory. The memory is given back at the latest when the job ends. By default every turn is granted. */
  readonly hold?: HoldMemory | undefined;
}

interface Reader {
  readonly signal?: AbortSignal | undefined;
  /** By default everything in the process shares one budget. */
  readonly hold?: HoldMemory | undefined;
}

/** Makes what a job that reads much needs. Reading throws when the signal aborts, so that the thread is free again. */
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
