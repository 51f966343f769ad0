import { EMPTY_MESSAGE_BYTES, MESSAGE_HEAD_BYTES, opcodes, RECORD_HEAD_BYTES } from "../../mcap/opcodes.ts";
import { MAX_WRITTEN_CHUNK_BYTES } from "../../verified/verified-run.ts";
import type { ChunkBuilder } from "./chunk-builder.ts";
import type { QuickSelection } from "./selection.ts";
import { ContentChangedError, readStored, type Scratch, type StoredBytes, type StoredRun } from "./stored-run.ts";

/** A channel of an uncompressed chunk, by the message index that names all of its messages. */
export interface PickedChannel {
  readonly channelId: number;
  readonly messageCount: number;
  /** The size of its records together. */
  readonly recordsBytes: number;
  /** Where the message index's record begins in the file. */
  readonly indexOffset: number;
}

export interface PickedRun extends StoredRun {
  readonly channels: PickedChannel[];
}

interface Picking {
  readonly from: StoredBytes;
  readonly scratch: Scratch;
  readonly selection: QuickSelection;
  readonly builder: ChunkBuilder;
  readonly onFull: () => void;
}

/**
 * Reads the wanted messages of an uncompressed chunk one by one, not the whole chunk. Its checksum cannot be compared then, so each
 * record's opcode, length, channel and time must be what the index says. Throws {@link ContentChangedError}.
 */
export function pickMessages(run: PickedRun, picking: Picking): void {
  const { selection, builder, onFull } = picking;
  const entries = readEntries(run, picking);
  const dataOffset = run.offset + run.dataStart;
  const window = { offset: 0, bytes: noBytes };
  for (const { timeHigh, timeLow, offset, channelId, guessBytes } of entries) {
    const record = readRecord(dataOffset + offset, { run, guessBytes, window, picking });
    const view = new DataView(record.buffer, record.byteOffset, record.byteLength);
    const isSame =
      view.getUint16(9, true) === channelId &&
      view.getUint32(15, true) === timeLow &&
      view.getUint32(19, true) === timeHigh;
    if (!isSame) throw new ContentChangedError(`the message at byte ${dataOffset + offset}`);
    if (builder.count > 0 && builder.sizeBytes + record.byteLength > MAX_WRITTEN_CHUNK_BYTES) onFull();
    builder.mark(0);
    builder.copy(record, 0, record.byteLength);
    if (!selection.keepsIds) builder.setChannel(builder.count - 1, selection.ids[channelId]!);
  }
}

interface Entry {
  readonly timeHigh: number;
  readonly timeLow: number;
  /** The message's place in the chunk's data. */
  readonly offset: number;
  readonly channelId: number;
  readonly guessBytes: number;
}

/** Reads the entries in the window, in order of log time, those of equal times as in the file. */
function readEntries(run: PickedRun, { from, scratch, selection }: Picking): Entry[] {
  const entries: Entry[] = [];
  for (const { channelId, messageCount, recordsBytes, indexOffset } of run.channels) {
    const length = INDEX_HEAD_BYTES + messageCount * ENTRY_BYTES;
    const bytes = readStored(from, { offset: indexOffset, length }, scratch);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const isSame =
      bytes[0] === opcodes.messageIndex &&
      view.getUint16(RECORD_HEAD_BYTES, true) === channelId &&
      view.getUint32(RECORD_HEAD_BYTES + 2, true) === messageCount * ENTRY_BYTES;
    if (!isSame) throw new ContentChangedError(`the message index at byte ${indexOffset}`);
    const guessBytes = Math.ceil(recordsBytes / messageCount) + SLACK_BYTES;
    for (let at = INDEX_HEAD_BYTES; at < length; at += ENTRY_BYTES) {
      const [timeLow, timeHigh] = [view.getUint32(at, true), view.getUint32(at + 4, true)];
      if (!run.isWithin && !selection.isInWindow(timeHigh, timeLow)) continue;
      const offset = view.getUint32(at + 8, true) + view.getUint32(at + 12, true) * 2 ** 32;
      entries.push({ timeHigh, timeLow, offset, channelId, guessBytes });
    }
  }
  return entries.sort((a, b) => a.timeHigh - b.timeHigh || a.timeLow - b.timeLow || a.offset - b.offset);
}

const INDEX_HEAD_BYTES = RECORD_HEAD_BYTES + 6;
const ENTRY_BYTES = 16;
const SLACK_BYTES = 64;

interface Reading {
  readonly run: PickedRun;
  readonly guessBytes: number;
  /** The piece that was read last, because messages that stand close together are read at once. */
  readonly window: { offset: number; bytes: Uint8Array };
  readonly picking: Picking;
}

function readRecord(offset: number, { run, guessBytes, window, picking }: Reading): Uint8Array {
  const dataEnd = run.offset + run.dataStart + run.lengthBytes;
  const head = viewAt(offset, Math.max(guessBytes, EMPTY_MESSAGE_BYTES), { dataEnd, window, picking });
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const contentBytes = view.getUint32(1, true) + view.getUint32(5, true) * 2 ** 32;
  const sizeBytes = RECORD_HEAD_BYTES + contentBytes;
  const isMessage = head[0] === opcodes.message && contentBytes >= MESSAGE_HEAD_BYTES && offset + sizeBytes <= dataEnd;
  if (!isMessage) throw new ContentChangedError(`the message at byte ${offset}`);
  if (sizeBytes <= head.byteLength) return head.subarray(0, sizeBytes);
  return viewAt(offset, sizeBytes, { dataEnd, window, picking });
}

function viewAt(
  offset: number,
  length: number,
  { dataEnd, window, picking }: { dataEnd: number } & Pick<Reading, "window" | "picking">,
): Uint8Array {
  const at = offset - window.offset;
  if (at >= 0 && at + Math.min(length, dataEnd - offset) <= window.bytes.byteLength) {
    return window.bytes.subarray(at, at + length);
  }
  const wanted = Math.min(Math.max(length, WINDOW_BYTES), dataEnd - offset);
  if (wanted < EMPTY_MESSAGE_BYTES) throw new ContentChangedError(`the message at byte ${offset}`);
  window.bytes = readStored(picking.from, { offset, length: wanted }, picking.scratch);
  window.offset = offset;
  return window.bytes.subarray(0, Math.min(length, wanted));
}

/** Reading so many bytes is as fast as reading a few. */
const WINDOW_BYTES = 1024;
const noBytes = new Uint8Array(0);
