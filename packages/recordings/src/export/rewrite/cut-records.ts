import { readMessageHeader } from "../../bag1/chunk-records.ts";
import { opcodes as bagOpcodes, opcodeOf, parseHeader } from "../../bag1/records.ts";
import { EMPTY_MESSAGE_BYTES, opcodes, RECORD_HEAD_BYTES } from "../../mcap/opcodes.ts";
import { asBuffer } from "../../memory/as-buffer.ts";
import { freeMemory, freeOwn } from "../../memory/free-memory.ts";
import type { RecordingFormatName } from "../../survey/summary.ts";
import { WHOLE_CHUNK_BYTES } from "../../verified/verified-run.ts";
import { LOG_TIME_OFFSET, messageHead } from "./fragment.ts";
import { ContentChangedError } from "./stored-run.ts";

/** Records of a large chunk: some megabytes of whole records, or one message that is too large to be held. */
export type Cut = { readonly kind: "records"; readonly bytes: Uint8Array } | ({ readonly kind: "huge" } & HugeRecord);

export interface HugeRecord extends HugeMessage {
  /** Where the message's record begins among the decompressed records. */
  readonly at: number;
  readonly sizeBytes: number;
  /** All of the record. It may be taken before the next cut is asked for. */
  readonly content: AsyncGenerator<Uint8Array>;
}

interface HugeMessage {
  /** The channel's id in the source. */
  readonly channelId: number;
  readonly timeNs: bigint;
  /** The head of its record in an MCAP file, up to the data. */
  readonly head: Uint8Array;
  /** The size of that whole record. */
  readonly recordBytes: number;
  /** Where in the content the message's data begin. */
  readonly dataAt: number;
}

/** Larger messages are never held as a whole. */
export const HUGE_BYTES: number = WHOLE_CHUNK_BYTES;

const LEAST_CUT_BYTES = 2 * 1024 * 1024;

interface Cutting {
  readonly format: RecordingFormatName;
  /** Begins the text of errors. */
  readonly place: string;
}

/** Puts pieces of decompressed records together and cuts them where records end. Each cut has memory of its own. */
export async function* cutRecords(pieces: AsyncIterable<Uint8Array>, { format, place }: Cutting): AsyncGenerator<Cut> {
  const iterator = pieces[Symbol.asyncIterator]();
  const layout = format === "mcap" ? mcapLayout : bagLayout;
  const held = new HeldPieces();
  /** Where what is held begins among all records. */
  let base = 0;
  /** Until so much is held, no record is whole. */
  let neededBytes = LEAST_CUT_BYTES;
  try {
    for (let step = await iterator.next(); !step.done; step = await iterator.next()) {
      held.push(step.value);
      if (held.sizeBytes < neededBytes) continue;
      const { records, nextBytes } = held.takeRecords(layout);
      base += records.byteLength;
      if (records.byteLength > 0) yield { kind: "records", bytes: records };
      neededBytes = Math.max(nextBytes, LEAST_CUT_BYTES);
      const message = readHuge(held.first, nextBytes, { layout, place });
      if (!message) continue;
      const content = takeContent({ held, sizeBytes: nextBytes, iterator, place });
      yield { kind: "huge", at: base, sizeBytes: nextBytes, content, ...message };
      while (!(await content.next()).done);
      base += nextBytes;
      neededBytes = LEAST_CUT_BYTES;
    }
    const { records } = held.takeRecords(layout);
    if (held.sizeBytes > 0) throw new ContentChangedError(place);
    if (records.byteLength > 0) yield { kind: "records", bytes: records };
  } finally {
    await iterator.return?.();
  }
}

/** Pieces that stand one behind the other, from the beginning of a record on. */
class HeldPieces {
  #pieces: Uint8Array[] = [];
  #sizeBytes = 0;

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** All that is held, directly after records were taken. */
  get first(): Uint8Array {
    return this.#pieces[0] ?? noBytes;
  }

  push(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.#sizeBytes += piece.byteLength;
  }

  /** Drops everything except `rest`. */
  keep(rest: Uint8Array): void {
    this.#pieces = rest.byteLength > 0 ? [rest] : [];
    this.#sizeBytes = rest.byteLength;
  }

  /** Takes the records that are whole, and answers how much the next one needs. */
  takeRecords({ sizeAt }: RecordLayout): { records: Uint8Array; nextBytes: number } {
    const joined = joinPieces(this.#pieces);
    const { end, next } = findEnd(joined, sizeAt);
    const records = end > 0 ? ownBytes(joined, 0, end) : noBytes;
    this.keep(ownBytes(joined, end, joined.byteLength));
    freeMemory(joined);
    return { records, nextBytes: next };
  }
}

const noBytes = new Uint8Array(0);

/** Answers undefined if the record is no message, or a message that can be held. */
function readHuge(
  bytes: Uint8Array,
  sizeBytes: number,
  { layout, place }: { layout: RecordLayout; place: string },
): HugeMessage | undefined {
  if (sizeBytes <= HUGE_BYTES) return undefined;
  const message = layout.readHuge(asBuffer(bytes), sizeBytes, place);
  return message && message.recordBytes > HUGE_BYTES ? message : undefined;
}

interface Taking {
  readonly held: HeldPieces;
  readonly sizeBytes: number;
  readonly iterator: AsyncIterator<Uint8Array>;
  readonly place: string;
}

/** Yields the bytes of one record, whose beginning is held. What follows it is held afterwards. */
async function* takeContent({ held, sizeBytes, iterator, place }: Taking): AsyncGenerator<Uint8Array> {
  let leftBytes = sizeBytes;
  for (let piece = held.first; ; ) {
    const bytes = Math.min(leftBytes, piece.byteLength);
    leftBytes -= bytes;
    held.keep(piece.subarray(bytes));
    yield piece.subarray(0, bytes);
    if (leftBytes === 0) return;
    freeOwn(piece);
    const step = await iterator.next();
    if (step.done) throw new ContentChangedError(place);
    piece = step.value;
  }
}

/** Joins pieces in memory of their own. */
function joinPieces(pieces: readonly Uint8Array[]): Buffer<ArrayBuffer> {
  const joined = Buffer.allocUnsafeSlow(pieces.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.byteLength;
    freeOwn(piece);
  }
  return joined;
}

type SizeAt = (bytes: Buffer, at: number) => number;

/** How a format's records are read. */
interface RecordLayout {
  /** Answers the size of a record, or at least so much as is needed to know it. */
  readonly sizeAt: SizeAt;
  /** Answers the message that begins here, or undefined if too little of the record is held, or if it is no message. */
  readHuge(bytes: Buffer, sizeBytes: number, place: string): HugeMessage | undefined;
}

const mcapLayout: RecordLayout = { sizeAt: sizeOfMcapRecord, readHuge: readMcapHuge };
const bagLayout: RecordLayout = { sizeAt: sizeOfBagRecord, readHuge: readBagHuge };

function sizeOfMcapRecord(bytes: Buffer, at: number): number {
  if (at + RECORD_HEAD_BYTES > bytes.byteLength) return RECORD_HEAD_BYTES;
  return RECORD_HEAD_BYTES + bytes.readUInt32LE(at + 1) + bytes.readUInt32LE(at + 5) * 2 ** 32;
}

function sizeOfBagRecord(bytes: Buffer, at: number): number {
  if (at + 4 > bytes.byteLength) return 4;
  const dataAt = 4 + bytes.readUInt32LE(at) + 4;
  if (at + dataAt > bytes.byteLength) return dataAt;
  return dataAt + bytes.readUInt32LE(at + dataAt - 4);
}

function readMcapHuge(bytes: Buffer, recordBytes: number): HugeMessage | undefined {
  if (bytes.byteLength < EMPTY_MESSAGE_BYTES || bytes[0] !== opcodes.message) return undefined;
  const head = new Uint8Array(bytes.subarray(0, EMPTY_MESSAGE_BYTES));
  const [channelId, timeNs] = [bytes.readUInt16LE(RECORD_HEAD_BYTES), bytes.readBigUInt64LE(LOG_TIME_OFFSET)];
  return { channelId, timeNs, head, recordBytes, dataAt: EMPTY_MESSAGE_BYTES };
}

function readBagHuge(bytes: Buffer, sizeBytes: number, place: string): HugeMessage | undefined {
  const headerEnd = bytes.byteLength < 4 ? 4 : 4 + bytes.readUInt32LE(0);
  const dataAt = headerEnd + 4;
  if (bytes.byteLength < dataAt) return undefined;
  const header = parseHeader(bytes.subarray(4, headerEnd), place, "BadChunk");
  if (opcodeOf(header) !== bagOpcodes.message) return undefined;
  const message = readMessageHeader(header);
  const dataBytes = sizeBytes - dataAt;
  const head = messageHead({ ...message, dataBytes });
  const { channelId, logTimeNs: timeNs } = message;
  return { channelId, timeNs, head, recordBytes: EMPTY_MESSAGE_BYTES + dataBytes, dataAt };
}

/** Where the last whole record ends, and how much the one behind it needs. */
function findEnd(bytes: Buffer, sizeAt: SizeAt): { end: number; next: number } {
  let at = 0;
  while (at < bytes.byteLength) {
    const sizeBytes = sizeAt(bytes, at);
    if (at + sizeBytes > bytes.byteLength) return { end: at, next: sizeBytes };
    at += sizeBytes;
  }
  return { end: at, next: 1 };
}

function ownBytes(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const own = Buffer.allocUnsafeSlow(end - start);
  own.set(bytes.subarray(start, end));
  return own;
}
