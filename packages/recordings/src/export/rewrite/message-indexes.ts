import { opcodes, RECORD_HEAD_BYTES } from "../../mcap/opcodes.ts";
import { LOG_TIME_OFFSET } from "./fragment.ts";

/** The message index of one channel. Its record begins `start` bytes behind the beginning of the chunk. */
export interface ChannelIndex {
  readonly channelId: number;
  readonly messageCount: number;
  readonly start: number;
}

/** Messages of a chunk that is being written: where the record of each begins. */
export interface MarkedMessages {
  readonly view: DataView;
  readonly starts: Uint32Array;
  readonly count: number;
}

/** Writes the message indexes of one chunk after another, in the same memory. spec: MCAP "Message Index" */
export class MessageIndexes {
  /** The number of messages by channel id. All are 0 between two chunks. */
  readonly #counts = new Uint32Array(CHANNEL_COUNT);
  /** Where the next entry of each channel is written, by channel id. */
  readonly #nexts = new Uint32Array(CHANNEL_COUNT);

  /** Answers where the index of each channel will stand behind a chunk's record, in the order in which the channels appear. */
  place(messages: MarkedMessages, chunkBytes: number): ChannelIndex[] {
    let start = chunkBytes;
    return this.#count(messages).map((channelId) => {
      const placed = { channelId, messageCount: this.#counts[channelId]!, start };
      this.#counts[channelId] = 0;
      start += indexBytes(placed.messageCount);
      return placed;
    });
  }

  write(bytes: Uint8Array, channels: readonly ChannelIndex[], { view, starts, count }: MarkedMessages): void {
    const to = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const nexts = this.#nexts;
    for (const channel of channels) {
      writeIndexHead(to, channel);
      nexts[channel.channelId] = channel.start + INDEX_HEAD_BYTES;
    }
    for (let index = 0; index < count; index += 1) {
      const start = starts[index]!;
      const channelId = view.getUint16(start + RECORD_HEAD_BYTES, true);
      const at = nexts[channelId]!;
      nexts[channelId] = at + ENTRY_BYTES;
      // In compiled code, a number of 64 bits that goes from one place to another costs no allocation.
      to.setBigUint64(at, view.getBigUint64(start + LOG_TIME_OFFSET, true), true);
      to.setUint32(at + 8, start, true);
      to.setUint32(at + 12, 0, true);
    }
  }

  /** Counts the messages of each channel, and answers the channels in the order in which they appear. */
  #count({ view, starts, count }: MarkedMessages): number[] {
    const counts = this.#counts;
    const channelIds: number[] = [];
    for (let index = 0; index < count; index += 1) {
      const channelId = view.getUint16(starts[index]! + RECORD_HEAD_BYTES, true);
      const before = counts[channelId]!;
      if (before === 0) channelIds.push(channelId);
      counts[channelId] = before + 1;
    }
    return channelIds;
  }
}

const CHANNEL_COUNT = 65_536;
const INDEX_HEAD_BYTES = RECORD_HEAD_BYTES + 6;
const ENTRY_BYTES = 16;

/** How long an index is. */
export function indexBytes(messageCount: number): number {
  return INDEX_HEAD_BYTES + messageCount * ENTRY_BYTES;
}

/** How long the indexes of so many messages are together, unless they are of very many channels. */
export function mostIndexBytes(messageCount: number): number {
  return messageCount * ENTRY_BYTES + Math.min(messageCount, USUAL_CHANNELS) * INDEX_HEAD_BYTES;
}

const USUAL_CHANNELS = 256;

function writeIndexHead(to: DataView, { channelId, messageCount, start }: ChannelIndex): void {
  to.setUint8(start, opcodes.messageIndex);
  to.setBigUint64(start + 1, BigInt(indexBytes(messageCount) - RECORD_HEAD_BYTES), true);
  to.setUint16(start + RECORD_HEAD_BYTES, channelId, true);
  to.setUint32(start + RECORD_HEAD_BYTES + 2, messageCount * ENTRY_BYTES, true);
}
