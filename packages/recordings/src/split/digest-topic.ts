import { createHash } from "node:crypto";
import type { IdTable } from "../export/plan/id-table.ts";

/** The digest of the messages of one topic, which are added in their order. */
export class TopicDigest {
  readonly #hash = createHash("sha256");
  readonly #channelIds = new Set<number>();
  #messageCount = 0;
  #startNs: bigint | undefined;
  #endNs = 0n;

  get messageCount(): number {
    return this.#messageCount;
  }

  /** Notes a message, whose bytes are added by `update`. */
  count(channelId: number, timeNs: bigint): void {
    this.#channelIds.add(channelId);
    this.#messageCount += 1;
    this.#startNs ??= timeNs;
    this.#endNs = timeNs;
  }

  /** Adds the records of messages, or a piece of one. */
  update(records: Uint8Array): void {
    this.#hash.update(records);
  }

  /** Two topics with the same result have the same messages in the same order, in the same channels. It is asked for once. */
  end(ids: IdTable): DigestedTopic {
    const channelIds = [...this.#channelIds].sort((a, b) => a - b);
    for (const channelId of channelIds) this.#hash.update(ids.identityOf(channelId));
    return {
      topic: ids.topicOf(channelIds[0]!),
      messageCount: this.#messageCount,
      startNs: this.#startNs!,
      endNs: this.#endNs,
      sha256: this.#hash.digest("hex"),
    };
  }
}

export interface DigestedTopic {
  readonly topic: string;
  readonly messageCount: number;
  /** The first and the last log time. */
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** SHA-256 of channels, schemas and messages with all of their fields. It is none of a file's bytes. */
  readonly sha256: string;
}
