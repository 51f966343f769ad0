import { crc32 } from "node:zlib";
import { RecordingFault } from "../faults/reasons.ts";
import { addTally } from "../survey/survey.ts";
import type { Verifying } from "../verified/verifying.ts";
import { messageHeadBytes } from "./opcodes.ts";
import type { RecordHead } from "./record-head.ts";
import { createRecordTally } from "./tally-messages.ts";

/** Gathers messages outside of chunks to runs of about a megabyte, which are then read like chunks. */
export interface LooseVerifier {
  /** Answers a promise of where the next record begins, where there is something to wait for. */
  add(message: RecordHead): Promise<number> | undefined;
  end(): Promise<void>;
}

export function createLooseVerifier(verifying: Verifying): LooseVerifier {
  const { context, survey, reader, isSalvage, damage } = verifying;
  const { limits } = context;
  const tally = createRecordTally(() => true, limits.maxRecordBytes);
  let run: { start: number; end: number } | undefined;

  const end = async (): Promise<void> => {
    if (!run) return;
    const ended = run;
    run = undefined;
    try {
      await readRun(ended);
    } catch (error) {
      if (!isSalvage || !(error instanceof RecordingFault)) throw error;
      damage.addGap({ offset: ended.start, end: ended.end, reason: error.reason });
    }
  };
  const readRun = async ({ start, end: runEnd }: { start: number; end: number }): Promise<void> => {
    tally.begin(`the messages at byte ${start}`, undefined);
    let checksum = 0;
    for await (const piece of reader.stream(start, runEnd - start)) {
      checksum = crc32(piece, checksum);
      tally.push(piece);
    }
    const { channels, isInOrder, largestBytes } = tally.end();
    for (const channel of channels) addTally(survey, channel.channelId, channel);
    survey.readableBytes = runEnd;
    let { startNs, endNs } = channels[0]!;
    for (const channel of channels) {
      if (channel.startNs < startNs) startNs = channel.startNs;
      if (channel.endNs > endNs) endNs = channel.endNs;
    }
    const lengthBytes = runEnd - start;
    const places = { offset: start, recordBytes: lengthBytes, indexesBytes: 0, lengthBytes };
    const facts = { startNs, endNs, largestBytes, checksum, indexesChecksum: 0, isInOrder };
    await verifying.add({ ...places, ...facts, hasTrueIndexes: false, mayPass: false, channels });
  };
  const begin = async (message: RecordHead): Promise<number> => {
    survey.hasUncheckedMessages = true;
    await end();
    run = { start: message.offset, end: message.end };
    return message.end;
  };
  return {
    end,
    add(message) {
      refuse(message, limits.maxChunkBytes);
      const isNear = run && message.end - run.start <= looseRunBytes && message.offset - run.end <= looseGapBytes;
      if (!run || !isNear) return begin(message);
      run.end = message.end;
      return undefined;
    },
  };
}

const looseRunBytes = 1024 * 1024;
/** What else stands between messages: schemas and channels, not attachments. */
const looseGapBytes = 64 * 1024;

function refuse({ offset, contentBytes }: RecordHead, maxBytes: number): void {
  if (contentBytes > maxBytes) {
    const text = `the message at byte ${offset} is ${contentBytes} bytes large; at most ${maxBytes} are read`;
    throw new RecordingFault("RecordTooLarge", text);
  }
  if (contentBytes >= messageHeadBytes) return;
  throw new RecordingFault("BadRecord", `the message at byte ${offset} is too short; the file is damaged there`);
}
