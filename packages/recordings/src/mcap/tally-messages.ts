import { RecordingError } from "../faults/reasons.ts";
import { MAX_TIME_NS, nameOf, type Place } from "../reading/field-cursor.ts";
import { createRecordPieces, type Looked, type RecordPieces } from "../reading/record-pieces.ts";
import type { SpanNotes } from "../survey/message-spans.ts";
import type { Tally } from "../survey/survey.ts";
import { type RunChannel, spanOfChannels } from "../verified/verified-run.ts";
import { ChannelSums, type SummedMessage } from "./channel-sums.ts";
import { EMPTY_MESSAGE_BYTES, MESSAGE_HEAD_BYTES, opcodes, RECORD_HEAD_BYTES } from "./opcodes.ts";
import { RunParts } from "./run-parts.ts";

/** The sums of the records of one chunk, or of a run of loose messages. */
export interface TalliedRecords {
  readonly channels: RunChannel[];
  /** When the messages are, if there are long gaps between them. */
  readonly parts: SpanNotes | undefined;
  readonly messageCount: number;
  /** The size of the largest message's record. */
  readonly largestBytes: number;
  /** How many messages have a time beyond the year 2262. */
  readonly lateCount: number;
  /** The messages stand in order of log time. */
  readonly isInOrder: boolean;
  /** The message indexes name each message once and in the order of the records, and nothing else. */
  readonly hasTrueIndexes: boolean;
  /** Nothing stands among them but messages, and schemas and channels as we would write them. */
  readonly isPlain: boolean;
}

/**
 * Gets the content of each schema and channel, and where that content begins among the records. Answers false if it has an unusual form.
 */
export type OnDefinition = (opcode: number, content: Uint8Array, at: number) => boolean;

/** Counts the messages of decompressed records, which come in pieces. Nothing is allocated for a message. */
export class RecordTally {
  readonly #onDefinition: OnDefinition;
  readonly #maxRecordBytes: number;
  readonly #sums = new ChannelSums();
  /** The message that is being counted. */
  readonly #message: SummedMessage = { channelId: 0, timeHigh: 0, timeLow: 0, start: 0, end: 0, isLate: false };
  #state = newState("");
  #parts = new RunParts();
  #pieces: RecordPieces | undefined;

  /** `maxRecordBytes` limits schemas and channels, which are held as a whole. */
  constructor(onDefinition: OnDefinition, maxRecordBytes: number) {
    this.#onDefinition = onDefinition;
    this.#maxRecordBytes = maxRecordBytes;
  }

  /** `indexes` are the message indexes behind the chunk; undefined if there are none to compare with. */
  begin(place: string, indexes: Uint8Array | undefined): void {
    this.#state = newState(place);
    this.#parts = new RunParts();
    this.#pieces = createRecordPieces((bytes, from, base) => this.#lookAt(bytes, from, base));
    this.#sums.begin(indexes);
  }

  /** Counts the next piece. Throws `BadChunk`. */
  push(bytes: Uint8Array): void {
    this.#pieces!.push(bytes);
  }

  /** Throws `BadChunk` if the last record is not whole. */
  end(): TalliedRecords {
    const { place, isInOrder, ...counts } = this.#state;
    if (!this.#pieces!.isWhole()) throw broken(() => `${place}, at its end,`);
    const hasTrueIndexes = this.#sums.areIndexesTrue();
    // A late message is sorted all the same.
    const order = isInOrder && counts.lateCount === 0;
    return { channels: this.#sums.toChannels(), parts: this.#parts.end(), ...counts, isInOrder: order, hasTrueIndexes };
  }

  #lookAt(bytes: Uint8Array, from: number, base: number): Looked {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = from;
    while (at + RECORD_HEAD_BYTES <= bytes.byteLength) {
      const opcode = bytes[at]!;
      const contentAt = at + RECORD_HEAD_BYTES;
      const contentBytes = view.getUint32(at + 1, true) + view.getUint32(at + 5, true) * 2 ** 32;
      const end = contentAt + contentBytes;
      const wantedBytes = RECORD_HEAD_BYTES + this.#neededBytes(opcode, contentBytes, base + at);
      if (at + wantedBytes > bytes.byteLength) return { at, wantedBytes };
      if (opcode === opcodes.message) {
        this.#message.start = base + at;
        this.#message.end = base + end;
        this.#addMessage(view, at);
      } else if (!isDefinition(opcode) || !this.#onDefinition(opcode, bytes.subarray(contentAt, end), base + contentAt))
        this.#state.isPlain = false;
      at = end;
    }
    return { at, wantedBytes: RECORD_HEAD_BYTES };
  }

  /** How much of a record's content must be seen before the record can be counted. */
  #neededBytes(opcode: number, contentBytes: number, start: number): number {
    if (opcode === 0) throw broken(placeAt(this.#state, start));
    if (opcode === opcodes.message) return Math.min(contentBytes, MESSAGE_HEAD_BYTES);
    if (!isDefinition(opcode)) return 0;
    if (contentBytes > this.#maxRecordBytes)
      throw tooLarge(placeAt(this.#state, start), contentBytes, this.#maxRecordBytes);
    return contentBytes;
  }

  /** Counts the message whose place was noted; its record stands at `at` of `view`. */
  #addMessage(view: DataView, at: number): void {
    const message = this.#message;
    const { start, end } = message;
    if (end - start < EMPTY_MESSAGE_BYTES) throw broken(placeAt(this.#state, start));
    message.channelId = view.getUint16(at + 9, true);
    message.timeLow = view.getUint32(at + 15, true);
    message.timeHigh = view.getUint32(at + 19, true);
    message.isLate = message.timeHigh >= 2 ** 31;
    this.#sums.add(message);
    noteMessage(this.#state, message);
    if (!message.isLate) this.#parts.add(message);
  }
}

/** The span of a run reaches as far as an index can say if messages are late, so that an export finds them. */
export function spanOfRun(channels: readonly RunChannel[], lateCount: number): { startNs: bigint; endNs: bigint } {
  const { startNs, endNs } = spanOfChannels(channels);
  return lateCount > 0 ? { startNs, endNs: MAX_TIME_NS } : { startNs, endNs };
}

/** The counts of a channel in its file, if the run has these parts. If all of its messages are late they have no span. */
export function tallyOf({ messageCount, startNs, endNs, isLate }: RunChannel, parts: SpanNotes | undefined): Tally {
  return isLate ? { messageCount } : { messageCount, startNs, endNs, parts };
}

interface State {
  readonly place: string;
  messageCount: number;
  lateCount: number;
  largestBytes: number;
  lastHigh: number;
  lastLow: number;
  isInOrder: boolean;
  isPlain: boolean;
}

function newState(place: string): State {
  const counts = { messageCount: 0, lateCount: 0, largestBytes: 0, lastHigh: 0, lastLow: 0 };
  return { place, ...counts, isInOrder: true, isPlain: true };
}

function noteMessage(state: State, { timeHigh, timeLow, start, end, isLate }: SummedMessage): void {
  state.messageCount += 1;
  if (isLate) state.lateCount += 1;
  if (end - start > state.largestBytes) state.largestBytes = end - start;
  if (timeHigh < state.lastHigh || (timeHigh === state.lastHigh && timeLow < state.lastLow)) state.isInOrder = false;
  state.lastHigh = timeHigh;
  state.lastLow = timeLow;
}

function isDefinition(opcode: number): boolean {
  return opcode === opcodes.schema || opcode === opcodes.channel;
}

function placeAt({ place }: State, at: number): Place {
  return () => `${place}, at its byte ${at},`;
}

function tooLarge(place: Place, bytes: number, most: number): RecordingError {
  const isExact = bytes <= Number.MAX_SAFE_INTEGER;
  const size = isExact ? `${bytes}` : `more than ${Number.MAX_SAFE_INTEGER}`;
  const text = `${nameOf(place)} holds a record of ${size} bytes that says what its messages are; at most ${most} are read`;
  return new RecordingError("RecordTooLarge", text);
}

function broken(place: Place): RecordingError {
  return new RecordingError("BadChunk", `${nameOf(place)} holds a record that is not whole; the file is damaged there`);
}
