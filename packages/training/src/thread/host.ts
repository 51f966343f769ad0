import { transfer } from "comlink";
import type { EpisodeFacts, StoredEpisode, Window } from "../episodes/episode.ts";
import type { FileSink } from "../parquet/parquet-file.ts";

/** All that the thread has of the process that started it. Each call is answered before the next one of its kind. */
export interface Host {
  /** Goes back before the first episode. */
  rewind(): void;
  /** Goes to the next episode, of which {@link begin} reads. */
  next(): Promise<EpisodeFacts | undefined>;
  /** Begins a reading, and returns its number. */
  begin(topics: readonly string[], window: Window): number;
  /** Returns the next bytes of a reading; undefined at its end. */
  pull(reading: number): Promise<Uint8Array | undefined>;
  end(reading: number): Promise<void>;
  /** Opens a file, and returns its number. */
  open(path: string): number;
  write(file: number, bytes: Uint8Array): Promise<void>;
  close(file: number): Promise<void>;
  /** Says how many episodes are done. */
  done(count: number): Promise<void>;
}

interface Serving {
  readonly episodes: AsyncIterable<StoredEpisode> | Iterable<StoredEpisode>;
  readonly open?: (path: string) => FileSink;
  readonly onEpisode?: (doneCount: number) => Promise<void> | void;
}

/** Pieces of a reading are joined up to so many bytes, because each message to a thread costs. */
const PULLED_BYTES = 256 * 1024;

/** Serves a thread. Errors cross to it as their texts alone, so that the first of them is kept. */
export class ServedHost implements Host {
  readonly #serving: Serving;
  readonly #readings = new Map<number, AsyncIterator<Uint8Array>>();
  readonly #files: FileSink[] = [];
  #episodes: AsyncIterator<StoredEpisode> | Iterator<StoredEpisode> | undefined;
  #episode: StoredEpisode | undefined;
  #lastReading = 0;
  /** The first error of a call. */
  failure: unknown;

  constructor(serving: Serving) {
    this.#serving = serving;
  }

  rewind(): void {
    this.#episodes = undefined;
  }

  next(): Promise<EpisodeFacts | undefined> {
    return this.#note(async () => {
      const { episodes } = this.#serving;
      this.#episodes ??=
        Symbol.asyncIterator in episodes ? episodes[Symbol.asyncIterator]() : episodes[Symbol.iterator]();
      const { done, value } = await this.#episodes.next();
      if (done) return undefined;
      this.#episode = value;
      const { id, startNs, endNs, metadata, recordings } = value;
      return { id, startNs, endNs, metadata, recordings };
    });
  }

  begin(topics: readonly string[], window: Window): number {
    this.#lastReading += 1;
    this.#readings.set(this.#lastReading, this.#episode!.readMcap(topics, window)[Symbol.asyncIterator]());
    return this.#lastReading;
  }

  pull(reading: number): Promise<Uint8Array | undefined> {
    const iterator = this.#readings.get(reading)!; // it may be ended meanwhile
    return this.#note(async () => {
      const pieces: Uint8Array[] = [];
      let bytes = 0;
      while (bytes < PULLED_BYTES) {
        const { done, value } = await iterator.next();
        if (done) break;
        pieces.push(new Uint8Array(value)); // the reading may write over it
        bytes += value.byteLength;
      }
      return bytes === 0 ? undefined : join(pieces, bytes);
    });
  }

  async end(reading: number): Promise<void> {
    await this.#readings.get(reading)?.return?.();
    this.#readings.delete(reading);
  }

  open(path: string): number {
    return this.#files.push(this.#serving.open!(path)) - 1;
  }

  write(file: number, bytes: Uint8Array): Promise<void> {
    return this.#note(() => this.#files[file]!.write(bytes));
  }

  close(file: number): Promise<void> {
    return this.#note(() => this.#files[file]!.close());
  }

  done(count: number): Promise<void> {
    return this.#note(async () => this.#serving.onEpisode?.(count));
  }

  /** Ends what a thread has left that was ended itself. */
  async abandon(): Promise<void> {
    for (const reading of this.#readings.keys()) await this.end(reading);
    await this.#episodes?.return?.();
  }

  async #note<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.failure ??= error;
      throw error;
    }
  }
}

/** Joins pieces that own their memory, which is moved to the thread. */
function join(pieces: readonly Uint8Array[], bytes: number): Uint8Array {
  const joined = pieces.length === 1 ? pieces[0]! : new Uint8Array(bytes);
  let at = 0;
  for (const piece of pieces) {
    if (piece !== joined) joined.set(piece, at);
    at += piece.byteLength;
  }
  return transfer(joined, [joined.buffer as ArrayBuffer]);
}
