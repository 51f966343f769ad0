import { crc32 } from "node:zlib";
import { type Compression, compressSync } from "../../codecs/compress.ts";
import { opcodes, recordHeadBytes } from "../../mcap/opcodes.ts";
import { channelIdAt, type Fragment } from "./fragment.ts";
import { freeMemory } from "./free-memory.ts";

/** A chunk as it goes into the written file, its message indexes behind it. */
export interface SealedChunk {
  bytes: Uint8Array;
  /** Of the chunk's record alone. */
  chunkBytes: number;
  indexesBytes: number;
  storedBytes: number;
  uncompressedBytes: number;
  startNs: bigint;
  endNs: bigint;
  channels: ChannelIndex[];
}

/** The message index of one channel; its record begins `start` bytes behind the beginning of the chunk. */
export interface ChannelIndex {
  channelId: number;
  messageCount: number;
  start: number;
}

/** `fragment` has at least one message; its memory is given back. */
export function sealChunk(fragment: Fragment, compression: Compression): SealedChunk {
  const { records, timesNs } = fragment;
  const stored = compressSync(compression, records);
  const headBytes = fixedHeadBytes + compression.length;
  const chunkBytes = headBytes + stored.byteLength;
  const channels = placeIndexes(fragment, chunkBytes);
  const indexesBytes = channels.reduce((sum, { messageCount }) => sum + indexBytes(messageCount), 0);
  const bytes = new Uint8Array(chunkBytes + indexesBytes);
  const [startNs, endNs] = [timesNs[0]!, timesNs[timesNs.length - 1]!];
  const facts = { chunkBytes, storedBytes: stored.byteLength, uncompressedBytes: records.byteLength, startNs, endNs };
  writeHead(bytes, { ...facts, crc: crc32(records), compression });
  bytes.set(stored, headBytes);
  writeIndexes(bytes, fragment, channels);
  for (const used of [stored, records]) freeMemory(used);
  return { bytes, indexesBytes, channels, ...facts };
}

/** Times, sizes, checksum and lengths. */
const fixedHeadBytes = recordHeadBytes + 8 + 8 + 8 + 4 + 4 + 8;

interface ChunkHead extends Omit<SealedChunk, "bytes" | "indexesBytes" | "channels"> {
  crc: number;
  compression: Compression;
}

/** spec: MCAP "Chunk". */
function writeHead(bytes: Uint8Array, head: ChunkHead): void {
  const view = new DataView(bytes.buffer);
  view.setUint8(0, opcodes.chunk);
  view.setBigUint64(1, BigInt(head.chunkBytes - recordHeadBytes), true);
  view.setBigUint64(9, head.startNs, true);
  view.setBigUint64(17, head.endNs, true);
  view.setBigUint64(25, BigInt(head.uncompressedBytes), true);
  view.setUint32(33, head.crc, true);
  view.setUint32(37, head.compression.length, true);
  bytes.set(Buffer.from(head.compression), 41);
  view.setBigUint64(41 + head.compression.length, BigInt(head.storedBytes), true);
}

/** In the order in which the channels appear. */
function placeIndexes(fragment: Fragment, chunkBytes: number): ChannelIndex[] {
  const counts: number[] = [];
  const channelIds: number[] = [];
  for (const start of fragment.starts) {
    const channelId = channelIdAt(fragment, start);
    if (counts[channelId] === undefined) channelIds.push(channelId);
    counts[channelId] = (counts[channelId] ?? 0) + 1;
  }
  let start = chunkBytes;
  return channelIds.map((channelId) => {
    const index = { channelId, messageCount: counts[channelId]!, start };
    start += indexBytes(index.messageCount);
    return index;
  });
}

/** spec: MCAP "Message Index": channel id, then an array of log time and offset. */
function writeIndexes(bytes: Uint8Array, fragment: Fragment, channels: readonly ChannelIndex[]): void {
  const view = new DataView(bytes.buffer);
  const nexts: number[] = [];
  for (const { channelId, messageCount, start } of channels) {
    view.setUint8(start, opcodes.messageIndex);
    view.setBigUint64(start + 1, BigInt(indexBytes(messageCount) - recordHeadBytes), true);
    view.setUint16(start + 9, channelId, true);
    view.setUint32(start + 11, messageCount * entryBytes, true);
    nexts[channelId] = start + indexHeadBytes;
  }
  const { starts, timesNs } = fragment;
  const times = new DataView(timesNs.buffer, timesNs.byteOffset);
  for (let index = 0; index < starts.length; index += 1) {
    const start = starts[index]!;
    const channelId = channelIdAt(fragment, start);
    const at = nexts[channelId]!;
    // By halves of 32 bits, which cost no allocation.
    view.setUint32(at, times.getUint32(8 * index));
    view.setUint32(at + 4, times.getUint32(8 * index + 4));
    view.setUint32(at + 8, start, true);
    nexts[channelId] = at + entryBytes;
  }
}

const indexHeadBytes = recordHeadBytes + 6;
const entryBytes = 16;

function indexBytes(messageCount: number): number {
  return indexHeadBytes + messageCount * entryBytes;
}
