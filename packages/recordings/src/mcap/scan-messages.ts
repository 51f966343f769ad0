import { nameOf, type Place, toValidTime } from "../field-cursor.ts";
import { RecordingFault } from "../reasons.ts";
import { messageHeadBytes, opcodes, recordHeadBytes } from "./opcodes.ts";

/** A message's record among the bytes that are scanned. */
export interface ScannedMessage {
  start: number;
  end: number;
  channelId: number;
  /** The log time in halves of 32 bits: as one number it would cost an allocation for each message. */
  timeHigh: number;
  timeLow: number;
}

/** Visits the message records of a decompressed chunk, for those who only move them. The visited object is always the same. */
export function scanMessages(bytes: Uint8Array, place: string, visit: (message: ScannedMessage) => void): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const message: ScannedMessage = { start: 0, end: 0, channelId: 0, timeHigh: 0, timeLow: 0 };
  const at: Place = () => `${place}, at its byte ${message.start},`;
  for (let next = 0; next < bytes.byteLength; next = message.end) {
    message.start = next;
    if (next + recordHeadBytes > bytes.byteLength) throw broken(at);
    const contentBytes = view.getUint32(next + 1, true) + view.getUint32(next + 5, true) * 2 ** 32;
    message.end = next + recordHeadBytes + contentBytes;
    if (message.end > bytes.byteLength || bytes[next] === 0) throw broken(at);
    if (bytes[next] !== opcodes.message) continue;
    if (contentBytes < messageHeadBytes) throw broken(at);
    message.channelId = view.getUint16(next + 9, true);
    message.timeLow = view.getUint32(next + 15, true);
    message.timeHigh = view.getUint32(next + 19, true);
    if (message.timeHigh >= 2 ** 31) toValidTime(view.getBigUint64(next + 15, true), at);
    visit(message);
  }
}

function broken(place: Place): RecordingFault {
  return new RecordingFault("BadChunk", `${nameOf(place)} holds a record that is not whole; the file is damaged there`);
}
