import { crc32 } from "node:zlib";
import { RecordingError } from "../../faults/reasons.ts";
import type { RecordingFormat } from "../../formats/formats.ts";
import { EMPTY_MESSAGE_BYTES } from "../../mcap/opcodes.ts";
import { placeOf } from "../../reading/chunk.ts";
import type { ReadContext } from "../../reading/read-context.ts";
import { openWindowReader } from "../../reading/window-reader.ts";
import { endsWith } from "../../sources/source.ts";
import { addChannel, addChunk, addTally, createSurvey, extendSpan, type Survey } from "../../survey/survey.ts";
import { type RunChannel, spanOfChannels } from "../../verified/verified-run.ts";
import type { Verifying } from "../../verified/verifying.ts";
import { blocksOf, type ToyBlock } from "./toy-blocks.ts";
import { BLOCK, END, toyMagic } from "./toy-layout.ts";
import { readToyRecord, recordsOf, toyRecords } from "./toy-records.ts";

/** A whole format in its own folder. A test adds it to a copy of this package by one row of `formats/formats.ts`. */
export const toyFormat: RecordingFormat<"toy"> = {
  name: "toy",
  title: "a toy log",
  extension: ".toy",
  magic: toyMagic,
  endsWithMagic: false,
  profile: "toys",
  hasChangedEnds: () => false,
  explainVersion: () => undefined,
  async inspect(context) {
    await requireEnd(context);
    const survey = createSurvey();
    for await (const block of blocksOf(openWindowReader(context), context)) addBlock(block, survey, context);
    return { survey, method: "scan" };
  },
  inspectSummary: async () => undefined,
  requireEnd,
  verify,
  holdsChunk: async ({ source }) => {
    const at = toyMagic.byteLength;
    return source.sizeBytes > at && (await source.read(at, 1))[0] === BLOCK;
  },
  records: toyRecords,
};

async function requireEnd({ source }: ReadContext): Promise<void> {
  if (!(await endsWith(source, Uint8Array.of(END)))) throw new RecordingError("NoEnd", "the toy log has no end");
}

async function verify({ context, survey, reader, damage, isSalvage, add }: Verifying): Promise<number> {
  const { sizeBytes } = context.source;
  if (!isSalvage) await requireEnd(context);
  survey.readableBytes = toyMagic.byteLength;
  try {
    for await (const block of blocksOf(reader, context)) {
      const run = addBlock(block, survey, context);
      const { chunk, record } = block;
      const recordBytes = record.byteLength;
      const places = {
        chunk,
        offset: chunk.offset,
        recordBytes,
        indexesBytes: 0,
        lengthBytes: chunk.uncompressedBytes,
      };
      const facts = { checksum: crc32(record), indexesChecksum: 0, hasTrueIndexes: false, mayPass: false };
      await add({ ...places, ...facts, ...run, ...spanOfChannels(run.channels) });
      survey.readableBytes = chunk.offset + recordBytes;
    }
  } catch (error) {
    if (!isSalvage || !(error instanceof RecordingError)) throw error;
    damage.addGap({ offset: survey.readableBytes, end: sizeBytes, reason: error.reason });
  }
  return sizeBytes;
}

/** Adds a block to the survey, and answers what its messages are. */
function addBlock({ chunk, bytes }: ToyBlock, survey: Survey, { source, limits }: ReadContext) {
  addChunk(survey, chunk.uncompressedBytes, { sizeBytes: source.sizeBytes, limits });
  const channels = new Map<number, RunChannel>();
  let [lastNs, isInOrder, largestBytes] = [0n, true, 0];
  for (const { record, end } of recordsOf(bytes, placeOf(chunk))) {
    const read = readToyRecord(record);
    if ("topic" in read) {
      addChannel(survey, { ...read, schemaId: 0, messageEncoding: "toy", metadata: {} }, limits);
      continue;
    }
    const { channelId, logTimeNs, data } = read;
    const channel = channels.get(channelId) ?? newChannel(channelId, logTimeNs);
    channels.set(channelId, channel);
    channel.messageCount += 1;
    channel.recordsBytes += data.byteLength;
    channel.lastEnd = end;
    extendSpan(channel, logTimeNs, logTimeNs);
    largestBytes = Math.max(largestBytes, EMPTY_MESSAGE_BYTES + data.byteLength);
    isInOrder &&= logTimeNs >= lastNs;
    lastNs = logTimeNs;
  }
  for (const channel of channels.values()) addTally(survey, channel.channelId, channel);
  return { channels: [...channels.values()], isInOrder, largestBytes };
}

function newChannel(channelId: number, timeNs: bigint): RunChannel {
  return { channelId, startNs: timeNs, endNs: timeNs, messageCount: 0, recordsBytes: 0, lastEnd: 0, indexStart: -1 };
}
