import { formats } from "../../formats/formats.ts";
import { asBuffer } from "../../memory/as-buffer.ts";
import { freeMemory, freeOwn } from "../../memory/free-memory.ts";
import type { RecordLayout } from "../../reading/record-layout.ts";
import type { RecordingFormatName } from "../../survey/summary.ts";
import { WHOLE_CHUNK_BYTES } from "../../verified/verified-run.ts";
import { messageHead } from "./fragment.ts";
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
  /** The head of its record in an MCAP file, up to the data; the channel is set later. */
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
  const layout = formats[format].records;
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
  takeRecords(layout: RecordLayout): { records: Uint8Array; nextBytes: number } {
    const joined = joinPieces(this.#pieces);
    const { end, next } = findEnd(joined, layout);
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
  const read = layout.readHead(asBuffer(bytes), place);
  if (!read) return undefined;
  const { message, dataAt } = read;
  const dataBytes = sizeBytes - dataAt;
  const head = messageHead({ ...message, dataBytes });
  const recordBytes = head.byteLength + dataBytes;
  if (recordBytes <= HUGE_BYTES) return undefined;
  return { channelId: message.channelId, timeNs: message.logTimeNs, head, recordBytes, dataAt };
}

interface Taking {
  readonly held: HeldPieces;
  readonly sizeBytes: number;
  readonly iterator: AsyncIterator<Uint8Array>;
  readonly place: string;
}

/** Yields the bytes of one record, whose beginning is held. The bytes that follow it are held afterwards. */
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

/** Where the last whole record ends, and how much the one behind it needs. */
function findEnd(bytes: Buffer, layout: RecordLayout): { end: number; next: number } {
  let at = 0;
  while (at < bytes.byteLength) {
    const sizeBytes = layout.sizeAt(bytes, at);
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
