import { crc32 } from "node:zlib";
import { placeOf, refuseLargeChunk } from "../chunk.ts";
import { emptyMessageBytes } from "../mcap/opcodes.ts";
import { RecordingFault } from "../reasons.ts";
import { addChunk, addTally, extendSpan } from "../survey.ts";
import { addFirst, requireChannel } from "../tally-chunk.ts";
import type { RunChannel, VerifiedRun } from "../verified/verified-run.ts";
import type { Verifying } from "../verified/verifying.ts";
import { indexBag } from "./bag-index.ts";
import { visitRecords } from "./chunk-records.ts";
import { type BagRecord, readData, readRecord } from "./record-frame.ts";
import { magic, opcodeOf, opcodes, readConnection } from "./records.ts";
import { addConnection, toChunk } from "./survey-bag.ts";

/**
 * Reads every byte of a bag once and in order, and names each run of messages. Its index must have been written, and is believed
 * in nothing but the connections; a salvage takes what is readable up to where it stops making sense.
 */
export async function verifyBag(verifying: Verifying): Promise<void> {
  const { context, survey, reader, isSalvage, damage } = verifying;
  if (!isSalvage) {
    const { schemas, channels, heldBytes } = await indexBag(context);
    Object.assign(survey, { schemas, channels, heldBytes });
  }
  let offset: number = magic.byteLength;
  try {
    while (offset < context.source.sizeBytes) {
      const record = await readRecord(offset, { reader, context, code: "BadRecord" });
      offset = await verifyRecord(record, verifying);
      survey.readableBytes = offset;
    }
  } catch (error) {
    if (!isSalvage || !(error instanceof RecordingFault)) throw error;
    damage.addGap({ offset, end: context.source.sizeBytes, reason: error.reason });
  }
}

/** Answers where the next begins. */
async function verifyRecord(record: BagRecord, verifying: Verifying): Promise<number> {
  const { context, survey, reader } = verifying;
  const opcode = opcodeOf(record.header);
  if (opcode === opcodes.chunk) await verifyChunk(record, verifying);
  if (opcode === opcodes.connection)
    addConnection(survey, readConnection(record.header, await readData(record, reader, context)), context);
  if (opcode === opcodes.message) {
    const text = `the record at byte ${record.offset} is a message outside of a chunk; the file is damaged there`;
    throw new RecordingFault("BadRecord", text);
  }
  return record.end;
}

async function verifyChunk(record: BagRecord, verifying: Verifying): Promise<void> {
  const { context, survey, reader, isSalvage, damage } = verifying;
  const chunk = toChunk(record);
  const { limits, source } = context;
  addChunk(survey, chunk.uncompressedBytes, { sizeBytes: source.sizeBytes, limits });
  const places = {
    chunk,
    offset: record.offset,
    recordBytes: record.end - record.offset,
    indexesBytes: 0,
    lengthBytes: chunk.uncompressedBytes,
  };
  const facts = { hasTrueIndexes: false, mayPass: false, indexesChecksum: 0, largestBytes: 0 };
  try {
    refuseLargeChunk(chunk, limits.maxChunkBytes);
    const bytes = await reader.fetch(record.offset, record.end - record.offset);
    const stored = bytes.subarray(chunk.dataOffset - record.offset);
    const { compression, uncompressedBytes } = chunk;
    const content = await context.decompress({ compression, bytes: stored, uncompressedBytes, place: placeOf(chunk) });
    const { channels, isInOrder, largestBytes } = tallyMessages(content, chunk, verifying);
    if (channels.length === 0) return;
    for (const channel of channels) addTally(survey, channel.channelId, channel);
    const span: { startNs?: bigint; endNs?: bigint } = {};
    for (const { startNs, endNs } of channels) extendSpan(span, startNs, endNs);
    const run = {
      ...places,
      ...facts,
      isInOrder,
      largestBytes,
      startNs: span.startNs!,
      endNs: span.endNs!,
      checksum: crc32(bytes),
      channels,
    };
    await verifying.add(run);
  } catch (error) {
    if (!isSalvage || !(error instanceof RecordingFault)) throw error;
    damage.addChunk({ offset: chunk.offset, end: record.end, reason: error.reason, messagesLost: undefined });
    const lost: VerifiedRun = {
      ...places,
      ...facts,
      isInOrder: false,
      startNs: 0n,
      endNs: 2n ** 63n - 1n,
      checksum: 0,
      channels: [],
      damage: { reason: error.reason },
    };
    await verifying.add(lost);
  }
}

function tallyMessages(content: Uint8Array, chunk: VerifiedRun["chunk"] & object, { survey, context }: Verifying) {
  const channels = new Map<number, RunChannel>();
  let lastNs = 0n;
  let isInOrder = true;
  let largestBytes = 0;
  visitRecords(content, placeOf(chunk), {
    connection: (header, data) => addConnection(survey, readConnection(header, data), context),
    message({ channelId, logTimeNs, data }) {
      const channel = channels.get(channelId) ?? newChannel(channelId, logTimeNs);
      if (channel.messageCount === 0) addFirst(channels, channelId, { tally: channel, limits: context.limits });
      channel.messageCount += 1;
      channel.recordsBytes += data.byteLength;
      channel.lastEnd = data.byteOffset - content.byteOffset + data.byteLength;
      extendSpan(channel, logTimeNs, logTimeNs);
      largestBytes = Math.max(largestBytes, emptyMessageBytes + data.byteLength);
      if (logTimeNs < lastNs) isInOrder = false;
      lastNs = logTimeNs;
    },
  });
  for (const id of channels.keys()) requireChannel(survey, id, placeOf(chunk));
  return { channels: [...channels.values()], isInOrder, largestBytes };
}

function newChannel(channelId: number, timeNs: bigint): RunChannel {
  return { channelId, messageCount: 0, startNs: timeNs, endNs: timeNs, recordsBytes: 0, lastEnd: 0, indexStart: -1 };
}
