import { RecordingFault } from "../faults/reasons.ts";
import { invalidTime, nameOf, type Place } from "../reading/field-cursor.ts";
import { createRecordPieces, type LookAtRecords, type RecordPieces } from "../reading/record-pieces.ts";
import type { RunChannel } from "../verified/verified-run.ts";
import { createChannelSums, type SummedMessage } from "./channel-sums.ts";
import { emptyMessageBytes, messageHeadBytes, opcodes, recordHeadBytes } from "./opcodes.ts";

/** What the records of one chunk, or of loose messages, come to. */
export interface TalliedRecords {
  channels: RunChannel[];
  messageCount: number;
  /** Of the largest message's record. */
  largestBytes: number;
  /** The messages stand in order of log time. */
  isInOrder: boolean;
  /** The message indexes name each message once and in the order of the records, and nothing else. */
  hasTrueIndexes: boolean;
  /** Nothing stands among them but messages, and schemas and channels as we would write them. */
  isPlain: boolean;
}

/** Counts the messages of decompressed records. Nothing is made for a message. */
export interface RecordTally {
  /** `indexes`: the records behind the chunk; undefined where there are none to compare with. */
  begin(place: string, indexes: Uint8Array | undefined): void;
  /** The next piece. Faults with `BadChunk` or `InvalidTime`. */
  push(bytes: Uint8Array): void;
  /** Faults with `BadChunk` where the last record is not whole. */
  end(): TalliedRecords;
}

/** Told of each schema and channel: its content, and where that begins among the records. False: it has an unusual form. */
export type OnDefinition = (opcode: number, content: Uint8Array, at: number) => boolean;

/** `maxRecordBytes`: of a schema or channel, which is held as a whole. */
export function createRecordTally(onDefinition: OnDefinition, maxRecordBytes: number): RecordTally {
  const sums = createChannelSums();
  const message: SummedMessage = { channelId: 0, timeHigh: 0, timeLow: 0, start: 0, end: 0 };
  let state = newState("");
  let pieces: RecordPieces;

  const addMessage = (view: DataView, at: number, { end, base }: { end: number; base: number }): void => {
    if (end - at < emptyMessageBytes) throw broken(placeAt(state, base + at));
    message.channelId = view.getUint16(at + 9, true);
    message.timeLow = view.getUint32(at + 15, true);
    message.timeHigh = view.getUint32(at + 19, true);
    if (message.timeHigh >= 2 ** 31) throw invalidTime(view.getBigUint64(at + 15, true), placeAt(state, base + at));
    message.start = base + at;
    message.end = base + end;
    sums.add(message);
    noteMessage(state, message);
  };
  const tally: LookAtRecords = (bytes, from, base) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = from;
    while (at + recordHeadBytes <= bytes.byteLength) {
      const opcode = bytes[at]!;
      const contentBytes = view.getUint32(at + 1, true) + view.getUint32(at + 5, true) * 2 ** 32;
      const end = at + recordHeadBytes + contentBytes;
      const neededBytes = neededOf(opcode, contentBytes);
      if (opcode === 0) throw broken(placeAt(state, base + at));
      if (neededBytes > maxRecordBytes) throw tooLarge(placeAt(state, base + at), contentBytes, maxRecordBytes);
      const wantedBytes = recordHeadBytes + neededBytes;
      if (at + wantedBytes > bytes.byteLength) return { at, wantedBytes };
      if (opcode === opcodes.message) addMessage(view, at, { end, base });
      else if (isDefinition(opcode)) {
        const contentAt = at + recordHeadBytes;
        if (!onDefinition(opcode, bytes.subarray(contentAt, end), base + contentAt)) state.isPlain = false;
      } else state.isPlain = false;
      at = end;
    }
    return { at, wantedBytes: recordHeadBytes };
  };
  return {
    begin(place, indexes) {
      state = newState(place);
      pieces = createRecordPieces(tally);
      sums.begin(indexes);
    },
    push: (bytes) => pieces.push(bytes),
    end() {
      const { messageCount, largestBytes, isInOrder, isPlain } = state;
      if (!pieces.isWhole()) throw broken(() => `${state.place}, at its end,`);
      const hasTrueIndexes = sums.areIndexesTrue();
      return { channels: sums.toChannels(), messageCount, largestBytes, isInOrder, hasTrueIndexes, isPlain };
    },
  };
}

interface State {
  place: string;
  messageCount: number;
  largestBytes: number;
  lastHigh: number;
  lastLow: number;
  isInOrder: boolean;
  isPlain: boolean;
}

function newState(place: string): State {
  const counts = { messageCount: 0, largestBytes: 0, lastHigh: 0, lastLow: 0 };
  return { place, ...counts, isInOrder: true, isPlain: true };
}

function noteMessage(state: State, { timeHigh, timeLow, start, end }: SummedMessage): void {
  state.messageCount += 1;
  if (end - start > state.largestBytes) state.largestBytes = end - start;
  if (timeHigh < state.lastHigh || (timeHigh === state.lastHigh && timeLow < state.lastLow)) state.isInOrder = false;
  state.lastHigh = timeHigh;
  state.lastLow = timeLow;
}

function isDefinition(opcode: number): boolean {
  return opcode === opcodes.schema || opcode === opcodes.channel;
}

/** Of a record's content, before it can be counted. */
function neededOf(opcode: number, contentBytes: number): number {
  if (isDefinition(opcode)) return contentBytes;
  return opcode === opcodes.message ? Math.min(contentBytes, messageHeadBytes) : 0;
}

function placeAt({ place }: State, at: number): Place {
  return () => `${place}, at its byte ${at},`;
}

function tooLarge(place: Place, bytes: number, most: number): RecordingFault {
  const text = `${nameOf(place)} holds a record of ${bytes} bytes that says what its messages are; at most ${most} are read`;
  return new RecordingFault("RecordTooLarge", text);
}

function broken(place: Place): RecordingFault {
  return new RecordingFault("BadChunk", `${nameOf(place)} holds a record that is not whole; the file is damaged there`);
}
