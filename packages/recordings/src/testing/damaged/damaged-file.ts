/** A recording that was damaged at random. */
export interface DamagedFile {
  readonly fileName: "run.mcap" | "run.bag";
  readonly seed: number;
  readonly bytes: Uint8Array;
  /** The damage that was done, one step after another. */
  readonly damages: readonly string[];
  /** The messages of the sound files. */
  readonly originals: ReadonlySet<string>;
  /**
   * So many messages may be given that were never written: where nothing has a checksum, a damaged byte may stand in a message that is framed
   * well. A place damages few messages so, but many if they are compressed.
   */
  readonly mostInvented: number;
  /** No checksum proves what some or all of it says. */
  readonly isUnchecked: boolean;
}

/** A message as a careful scan finds it. `key` is equal for equal messages. */
export interface ScannedMessage {
  readonly topic: string;
  readonly timeNs: bigint;
  readonly key: string;
}

export function keyOf(topic: string, timeNs: bigint, data: Uint8Array): string {
  return `${topic} ${timeNs} ${Buffer.from(data).toString("base64")}`;
}

/** The key of a message without its topic, in which spaces may stand. */
export function bodyOf(key: string): string {
  return key.slice(topicOf(key).length);
}

export function topicOf(key: string): string {
  return key.slice(0, key.lastIndexOf(" ", key.lastIndexOf(" ") - 1));
}
