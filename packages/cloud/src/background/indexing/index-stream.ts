import { PassThrough } from "node:stream";

/** Stores an index, or throws. The pieces are an index only if they end without an error. */
export type StoreIndex = (pieces: AsyncIterable<Uint8Array>) => Promise<void>;

/** The index of one file on its way from the thread that makes it to the store. */
export interface IndexStream {
  /** Resolves when there is room for more. */
  write(piece: Uint8Array): Promise<void>;
  /** Ends the index, and resolves when it is stored. */
  end(): Promise<void>;
  /** Ends the index without storing it, because it is not needed. */
  abandon(): Promise<void>;
}

export function openIndexStream(store: StoreIndex): IndexStream {
  const pieces = new PassThrough({ highWaterMark: HELD_BYTES });
  const storing = store(pieces);
  let failure: Error | undefined;
  storing.catch((error: Error) => {
    failure = error;
    pieces.destroy(error);
  });
  pieces.on("error", () => {}); // the error is thrown by the write that waits, or by the end
  return {
    write: (piece) =>
      new Promise((resolve, reject) => pieces.write(piece, (error) => (error ? reject(failure ?? error) : resolve()))),
    async end() {
      pieces.end();
      await storing;
    },
    async abandon() {
      pieces.destroy(new IndexUnwantedError());
      await storing.catch(() => {});
    },
  };
}

const HELD_BYTES = 1024 * 1024;

class IndexUnwantedError extends Error {}
