import { crc32 } from "node:zlib";
import { RecordingError } from "../faults/reasons.ts";
import { addTally } from "../survey/survey.ts";
import type { VerifiedRun } from "../verified/verified-run.ts";
import type { Verifying } from "../verified/verifying.ts";
import { MESSAGE_HEAD_BYTES } from "./opcodes.ts";
import type { RecordHead } from "./record-head.ts";
import { RecordTally, spanOfRun, tallyOf } from "./tally-messages.ts";

/** Gathers messages outside of chunks to runs of about a megabyte, which are then read like chunks. */
export class LooseVerifier {
  readonly #verifying: Verifying;
  readonly #tally: RecordTally;
  /** The run that is being gathered. */
  #run: LooseRun | undefined;

  constructor(verifying: Verifying) {
    this.#verifying = verifying;
    this.#tally = new RecordTally(() => true, verifying.context.limits.maxRecordBytes);
  }

  /** Answers a promise of where the next record begins if there is something to wait for. */
  add(message: RecordHead): Promise<number> | undefined {
    refuse(message, this.#verifying.context.limits.maxChunkBytes);
    const run = this.#run;
    const isNear = run && message.end - run.start <= LOOSE_RUN_BYTES && message.offset - run.end <= LOOSE_GAP_BYTES;
    if (!run || !isNear) return this.#begin(message);
    run.end = message.end;
    return undefined;
  }

  /** Reads the run that was gathered. */
  async end(): Promise<void> {
    const run = this.#run;
    if (!run) return;
    this.#run = undefined;
    const { isSalvage, damage } = this.#verifying;
    try {
      await this.#verifying.add(await this.#read(run));
    } catch (error) {
      if (!isSalvage || !(error instanceof RecordingError)) throw error;
      damage.addGap({ offset: run.start, end: run.end, reason: error.reason });
    }
  }

  async #begin(message: RecordHead): Promise<number> {
    this.#verifying.survey.hasUncheckedMessages = true;
    await this.end();
    this.#run = { start: message.offset, end: message.end };
    return message.end;
  }

  async #read({ start, end }: LooseRun): Promise<VerifiedRun> {
    const { reader, survey, damage } = this.#verifying;
    this.#tally.begin(`the messages at byte ${start}`, undefined);
    let checksum = 0;
    for await (const piece of reader.stream(start, end - start)) {
      checksum = crc32(piece, checksum);
      this.#tally.push(piece);
    }
    const { channels, parts, isInOrder, largestBytes, lateCount } = this.#tally.end();
    for (const channel of channels) addTally(survey, channel.channelId, tallyOf(channel, parts));
    if (lateCount > 0)
      damage.addDoubted(`a run of messages at byte ${start}`, { offset: start, messageCount: lateCount });
    survey.readableBytes = end;
    const lengthBytes = end - start;
    const places = { offset: start, recordBytes: lengthBytes, indexesBytes: 0, lengthBytes };
    const facts = { ...spanOfRun(channels, lateCount), largestBytes, checksum, indexesChecksum: 0, isInOrder };
    return { ...places, ...facts, hasTrueIndexes: false, mayPass: false, hasDoubtedTimes: lateCount > 0, channels };
  }
}

interface LooseRun {
  readonly start: number;
  end: number;
}

const LOOSE_RUN_BYTES = 1024 * 1024;
/** Schemas and channels may stand between the messages of a run, but not attachments. */
const LOOSE_GAP_BYTES = 64 * 1024;

function refuse({ offset, contentBytes }: RecordHead, maxBytes: number): void {
  if (contentBytes > maxBytes) {
    const text = `the message at byte ${offset} is ${contentBytes} bytes large; at most ${maxBytes} are read`;
    throw new RecordingError("RecordTooLarge", text);
  }
  if (contentBytes >= MESSAGE_HEAD_BYTES) return;
  throw new RecordingError("BadRecord", `the message at byte ${offset} is too short; the file is damaged there`);
}
