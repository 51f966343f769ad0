import type { Message } from "@downlink/messages/read-mcap";

/** An episode of a dataset, as far as a training set is made of it. */
export interface EpisodeFacts {
  readonly id: string;
  readonly startNs: bigint;
  /** Inclusive. */
  readonly endNs: bigint;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Its recordings, by their ids, with the SHA-256 of their bytes. */
  readonly recordings: readonly { readonly id: string; readonly sha256: string }[];
}

/** An episode whose messages can be read any number of times. */
export interface Episode extends EpisodeFacts {
  /** Yields the messages of some topics whose log times are in the window, both ends included, by log time; each time the same. */
  read(topics: readonly string[], window: Window): AsyncIterable<Message>;
}

/** An episode as it is stored. */
export interface StoredEpisode extends EpisodeFacts {
  /** Yields what {@link Episode.read} does as an MCAP file, or no bytes where there is no message. */
  readMcap(topics: readonly string[], window: Window): AsyncIterable<Uint8Array>;
}

export interface Window {
  readonly startNs: bigint;
  readonly endNs: bigint;
}

/** A training set cannot be made of this data with this mapping. The message is a sentence for people. */
export class TrainingError extends Error {
  override readonly name = "TrainingError";
}
