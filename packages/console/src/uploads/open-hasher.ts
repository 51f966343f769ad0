import { startWorker } from "../browser/start-worker.ts";
import type { FromHasher, ToHasher } from "./hash-worker.ts";
import workerUrl from "./hash-worker.ts?worker&url";

export interface Hasher extends Disposable {
  /** Returns the SHA-256 of a file or of a part of it. Throws {@link UnreadableFileError}. */
  hash(blob: Blob, onHashed?: (bytes: number) => void): Promise<Uint8Array>;
}

/** The file is not what it was when the user chose it, or cannot be read. */
export class UnreadableFileError extends Error {
  override readonly name = "UnreadableFileError";
}

interface Waiting extends PromiseWithResolvers<Uint8Array> {
  readonly onHashed: ((bytes: number) => void) | undefined;
}

/** Opens a worker that hashes, so that the page stays quick. Once it is closed, or the signal aborted, nothing more is answered. */
export function openHasher(signal: AbortSignal): Hasher {
  const worker = startWorker(workerUrl, "hash");
  const waiting = new Map<number, Waiting>();
  const end = (error: unknown) => {
    worker.terminate();
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  worker.onmessage = ({ data }: MessageEvent<FromHasher>) => {
    const one = waiting.get(data.id);
    if ("hashedBytes" in data) return one?.onHashed?.(data.hashedBytes);
    waiting.delete(data.id);
    if ("digest" in data) return one?.resolve(data.digest);
    console.warn(data.problem);
    one?.reject(
      new UnreadableFileError("The file cannot be read, or was changed since it was chosen: choose it again."),
    );
  };
  worker.onerror = () => end(new Error("The worker that reads the file could not be started. Load the page again."));
  const abort = () => end(signal.reason);
  signal.addEventListener("abort", abort);
  let lastId = 0;
  return {
    hash(blob, onHashed) {
      signal.throwIfAborted();
      const one = { ...Promise.withResolvers<Uint8Array>(), onHashed };
      lastId += 1;
      waiting.set(lastId, one);
      worker.postMessage({ id: lastId, blob } satisfies ToHasher);
      return one.promise;
    },
    [Symbol.dispose]() {
      signal.removeEventListener("abort", abort);
      end(new Error("The hasher was closed."));
    },
  };
}
