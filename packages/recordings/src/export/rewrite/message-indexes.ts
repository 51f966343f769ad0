import { opcodes, recordHeadBytes } from "../../mcap/opcodes.ts";
import { logTimeOffset } from "./fragment.ts";
import type { ChannelIndex } from "./sealed-chunk.ts";

/** Messages of a chunk that is being written: where the record of each begins. */
export interface MarkedMessages {
  view: DataView;
  starts: Uint32Array;
  count: number;
}

/** The message indexes of one chunk after another, in the same memory. spec: MCAP "Message Index" */
export interface MessageIndexes {
  /** Where the index of each channel will stand behind a chunk's record, in the order in which the channels appear. */
  place(messages: MarkedMessages, chunkBytes: number): ChannelIndex[];
  write(bytes: Uint8Array, channels: readonly ChannelIndex[], messages: MarkedMessages): void;
}

export function createMessageIndexes(): MessageIndexes {
  /** By channel id; all 0 in between. */
  const counts = new Uint32Array(channelCount);
  const nexts = new Uint32Array(channelCount);
  return {
    place({ view, starts, count }, chunkBytes) {
      const channelIds: number[] = [];
      for (let index = 0; index < count; index += 1) {
        const channelId = view.getUint16(starts[index]! + recordHeadBytes, true);
        const before = counts[channelId]!;
        if (before === 0) channelIds.push(channelId);
        counts[channelId] = before + 1;
      }
      let start = chunkBytes;
      return channelIds.map((channelId) => {
        const placed = { channelId, messageCount: counts[channelId]!, start };
        counts[channelId] = 0;
        start += indexBytes(placed.messageCount);
        return placed;
      });
    },
    write(bytes, channels, { view, starts, count }) {
      const to = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      for (const channel of channels) {
        writeHead(to, channel);
        nexts[channel.channelId] = channel.start + indexHeadBytes;
      }
      for (let index = 0; index < count; index += 1) {
        const start = starts[index]!;
        const channelId = view.getUint16(start + recordHeadBytes, true);
        const at = nexts[channelId]!;
        nexts[channelId] = at + entryBytes;
        // Compiled, a number of 64 bits that goes from one place to another costs no allocation.
        to.setBigUint64(at, view.getBigUint64(start + logTimeOffset, true), true);
        to.setUint32(at + 8, start, true);
        to.setUint32(at + 12, 0, true);
      }
    },
  };
}

const channelCount = 65_536;
const indexHeadBytes = recordHeadBytes + 6;
const entryBytes = 16;

export function indexBytes(messageCount: number): number {
  return indexHeadBytes + messageCount * entryBytes;
}

/** Of so many messages, unless they are of very many channels. */
export function mostIndexBytes(messageCount: number): number {
  return messageCount * entryBytes + Math.min(messageCount, usualChannels) * indexHeadBytes;
}

const usualChannels = 256;

function writeHead(to: DataView, { channelId, messageCount, start }: ChannelIndex): void {
  to.setUint8(start, opcodes.messageIndex);
  to.setBigUint64(start + 1, BigInt(indexBytes(messageCount) - recordHeadBytes), true);
  to.setUint16(start + recordHeadBytes, channelId, true);
  to.setUint32(start + recordHeadBytes + 2, messageCount * entryBytes, true);
}
