import type { Message } from "@downlink/messages/read-mcap";

/** An episode of a dataset, as far as a training set is made of it. */
export interface Episode {
  readonly id: string;
  readonly startNs: bigint;
  /** Inclusive. */
  readonly endNs: bigint;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Its recordings, by their ids, with the SHA-256 of their bytes. */
  readonly recordings: readonly { readonly id: string; readonly sha256: string }[];
  /** Yields the messages of some topics whose log times are in the window, both ends included, by log time; each time the same. */
  read(topics: readonly string[], window: Window): AsyncIterable<Message>;
}

export interface Window {
  readonly startNs: bigint;
  readonly endNs: bigint;
}

/** A training set cannot be made of this data with this mapping. The message is a sentence for people. */
export class TrainingError extends Error {
  override readonly name = "TrainingError";
}
