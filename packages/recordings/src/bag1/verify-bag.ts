import { crc32 } from "node:zlib";
import { isPlain } from "../codecs/decompress.ts";
import { RecordingError } from "../faults/reasons.ts";
import { EMPTY_MESSAGE_BYTES } from "../mcap/opcodes.ts";
import { freeOwn } from "../memory/free-memory.ts";
import { type ChunkHeader, placeOf, refuseLargeChunk } from "../reading/chunk.ts";
import { addFirst, requireChannel } from "../reading/tally-chunk.ts";
import { createSpanNotes } from "../survey/message-spans.ts";
import { addChunk, addTally, extendSpan } from "../survey/survey.ts";
import { copies } from "../verified/forward-reader.ts";
import { requireKnownChannels } from "../verified/require-known-channels.ts";
import { type RunChannel, WHOLE_CHUNK_BYTES } from "../verified/verified-run.ts";
import type { Verifying } from "../verified/verifying.ts";
import { indexBag } from "./bag-index.ts";
import { type BagRecord, readData, readRecord } from "./record-frame.ts";
import { magic, opcodeOf, opcodes, readConnection } from "./records.ts";
import { addConnection, toChunk } from "./to-survey.ts";
import { createPieceVisitor } from "./visit-pieces.ts";
import { type DamagedBagVisitor, walkDamagedBag } from "./walk-damaged-bag.ts";

/**
 * Reads every byte of a bag once and in order, and adds each run of messages. Its index must have been written, but only its connections
 * are believed. A salvage takes what is readable, whatever is wrong with the bag. Answers where the bag ends: at the latest where another
 * one begins.
 */
export async function verifyBag(verifying: Verifying): Promise<number> {
  const { context, survey, reader, isSalvage } = verifying;
  if (isSalvage) return salvageBag(verifying);
  const { schemas, channels, heldBytes } = await indexBag(context);
  Object.assign(survey, { schemas, channels, heldBytes });
  let offset: number = magic.byteLength;
  while (offset < context.source.sizeBytes) {
    const record = await readRecord(offset, { reader, context, code: "BadRecord" });
    await verifyRecord(record, verifying);
    offset = record.end;
    survey.readableBytes = offset;
  }
  return offset;
}

async function salvageBag(verifying: Verifying): Promise<number> {
  const { context, survey, reader, damage } = verifying;
  const visitor: DamagedBagVisitor = {
    async chunk(chunk, end) {
      await verifyChunk(chunk, end, verifying);
      return end;
    },
    begun: (chunk) => verifyChunk(chunk, chunk.dataOffset + chunk.storedBytes, verifying),
    async lost({ chunk, end, reason }) {
      damage.addChunk({ offset: chunk.offset, end, reason, messagesLost: undefined });
      const lost = { isInOrder: false, startNs: 0n, endNs: 2n ** 63n - 1n, checksum: 0, channels: [] };
      await verifying.add({ ...factsOf(chunk, end), ...lost, damage: { reason } });
    },
    gap: (gap) => damage.addGap(gap),
  };
  const end = await walkDamagedBag({ survey, context, reader, visitor, code: "BadRecord" });
  requireKnownChannels(verifying);
  return end;
}

async function verifyRecord(record: BagRecord, verifying: Verifying): Promise<void> {
  const { context, survey, reader } = verifying;
  const opcode = opcodeOf(record.header);
  if (opcode === opcodes.chunk) await verifyChunk(toChunk(record), record.end, verifying);
  if (opcode === opcodes.connection)
    addConnection(survey, readConnection(record.header, await readData(record, reader, context)), context);
  if (opcode === opcodes.message) {
    const text = `the record at byte ${record.offset} is a message outside of a chunk; the file is damaged there`;
    throw new RecordingError("BadRecord", text);
  }
}

/** `end` is where its record ends. */
async function verifyChunk(chunk: ChunkHeader, end: number, verifying: Verifying): Promise<void> {
  const { context, survey } = verifying;
  const { limits, source } = context;
  addChunk(survey, chunk.uncompressedBytes, { sizeBytes: source.sizeBytes, limits });
  refuseLargeChunk(chunk, limits.maxChunkBytes);
  const { channels, parts, ...tallied } = await tallyChunk({ end, chunk, verifying });
  if (channels.length === 0) return;
  for (const channel of channels) addTally(survey, channel.channelId, { ...channel, parts });
  const span: { startNs?: bigint; endNs?: bigint } = {};
  for (const { startNs, endNs } of channels) extendSpan(span, startNs, endNs);
  await verifying.add({ ...factsOf(chunk, end), ...tallied, startNs: span.startNs!, endNs: span.endNs!, channels });
}

function factsOf(chunk: ChunkHeader, end: number) {
  return {
    chunk,
    offset: chunk.offset,
    recordBytes: end - chunk.offset,
    indexesBytes: 0,
    lengthBytes: chunk.uncompressedBytes,
    hasTrueIndexes: false,
    mayPass: false,
    indexesChecksum: 0,
    largestBytes: 0,
  };
}

interface Reading {
  readonly chunk: ChunkHeader;
  readonly end: number;
  readonly verifying: Verifying;
}

async function tallyChunk(reading: Reading) {
  const { chunk, verifying } = reading;
  const tally = createMessageTally(chunk, verifying);
  let checksum = 0;
  const onStored = (bytes: Uint8Array): void => {
    checksum = crc32(bytes, checksum);
  };
  for await (const piece of contentOf(reading, onStored)) {
    tally.push(piece);
    if (!isPlain(chunk.compression)) freeOwn(piece);
  }
  return { ...tally.end(), checksum };
}

/** Decompresses a chunk, a large one in several pieces. `onStored` gets the whole record, piece by piece. */
async function* contentOf(
  { end, chunk, verifying: { context, reader } }: Reading,
  onStored: (bytes: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  const { compression, uncompressedBytes, storedBytes, dataOffset, offset } = chunk;
  const input = { compression, uncompressedBytes, storedBytes, place: placeOf(chunk) };
  const lengthBytes = end - offset;
  if (Math.max(lengthBytes, uncompressedBytes) <= WHOLE_CHUNK_BYTES) {
    const bytes = await reader.fetch(offset, lengthBytes);
    onStored(bytes);
    return yield await context.decompress.whole({ ...input, bytes: bytes.subarray(dataOffset - offset) });
  }
  onStored(await reader.fetch(offset, dataOffset - offset));
  const pieces = noted(reader.stream(dataOffset, storedBytes), onStored);
  yield* context.decompress.inPieces({ ...input, pieces: copies(pieces) });
}

async function* noted(
  pieces: AsyncIterable<Uint8Array>,
  onStored: (bytes: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    onStored(piece);
    yield piece;
  }
}

function createMessageTally(chunk: Reading["chunk"], { survey, context, isSalvage }: Verifying) {
  const channels = new Map<number, RunChannel>();
  const parts = createSpanNotes();
  let lastNs = 0n;
  let isInOrder = true;
  let largestBytes = 0;
  const visitor = createPieceVisitor(
    placeOf(chunk),
    {
      connection: (header, data) => addConnection(survey, readConnection(header, data), context),
      message({ channelId, logTimeNs, dataStart, dataBytes }) {
        const channel = channels.get(channelId) ?? newChannel(channelId, logTimeNs);
        if (channel.messageCount === 0)
          addFirst(channels, channelId, { tally: channel, most: context.limits.maxChannels });
        const gapNs = logTimeNs < channel.endNs ? Infinity : Number(logTimeNs - channel.endNs);
        channel.maxGapNs = Math.max(channel.maxGapNs!, gapNs);
        channel.messageCount += 1;
        channel.recordsBytes += dataBytes;
        channel.lastEnd = dataStart + dataBytes;
        extendSpan(channel, logTimeNs, logTimeNs);
        largestBytes = Math.max(largestBytes, EMPTY_MESSAGE_BYTES + dataBytes);
        if (logTimeNs < lastNs) isInOrder = false;
        lastNs = logTimeNs;
        parts.note(logTimeNs, logTimeNs);
      },
    },
    context.limits.maxRecordBytes,
  );
  return {
    push: visitor.push,
    end() {
      visitor.end();
      if (!isSalvage) for (const id of channels.keys()) requireChannel(survey, id, placeOf(chunk));
      return { channels: [...channels.values()], parts, isInOrder, largestBytes };
    },
  };
}

function newChannel(channelId: number, timeNs: bigint): RunChannel {
  const counts = { messageCount: 0, maxGapNs: 0, recordsBytes: 0, lastEnd: 0 };
  return { channelId, startNs: timeNs, endNs: timeNs, ...counts, indexStart: -1 };
}
