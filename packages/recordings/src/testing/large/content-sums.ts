import { crc32 } from "node:zlib";

/** The sums of messages, in whichever order they are added. */
export interface ContentSums {
  count: number;
  sum: number;
  /** The content of a message record: channel, sequence, times, data. */
  add(content: Uint8Array): void;
}

export function createContentSums(): ContentSums {
  return {
    count: 0,
    sum: 0,
    add(content) {
      this.count += 1;
      this.sum = (this.sum + crc32(content)) % 2 ** 48;
    },
  };
}
