import { crc32 } from "node:zlib";
import { compressPieces } from "../../codecs/compress-pieces.ts";
import { RECORD_HEAD_BYTES } from "../../mcap/opcodes.ts";
import { freeOwn } from "../../memory/free-memory.ts";
import { SourceChangedError } from "../../sources/source.ts";
import type { PlannedRun } from "../plan/planned-source.ts";
import { encodeChunkHead } from "../rewrite/chunk-head.ts";
import { type Cut, HUGE_BYTES, type HugeRecord } from "../rewrite/cut-records.ts";
import type { Fragment } from "../rewrite/fragment.ts";
import { UNWANTED } from "../rewrite/selection.ts";
import { encodeRecords } from "../write-mcap/mcap-output.ts";
import { type Loaded, type Loading, placeOf } from "./load-run.ts";

/*
 * A message that is too large to be held is written as it is read, in pieces. The head of its chunk holds sizes and a checksum, so
 * it is read and compressed twice: first to measure, then to write.
 */

/** The measured messages, by the places of the messages among the records of their run. */
export type MeasuredHuge = ReadonlyMap<number, { readonly crc: number; readonly storedBytes: number }>;

/** Measures all huge messages of a run that are wanted. */
export async function measureHuge(
  run: PlannedRun,
  { compression }: Loading,
  openCuts: () => AsyncIterable<Cut>,
): Promise<MeasuredHuge> {
  const known = measured.get(run);
  if (known) return known;
  const huge = new Map<number, { crc: number; storedBytes: number }>();
  measured.set(run, huge);
  if (run.largestBytes <= HUGE_BYTES) return huge;
  for await (const cut of openCuts()) {
    if (cut.kind !== "huge" || writtenId(cut, run) === undefined) continue;
    const sum = { crc: 0, storedBytes: 0 };
    const content = noteChecksum(recordOf(cut, run), sum);
    for await (const piece of compressPieces(compression, content, cut.recordBytes)) {
      sum.storedBytes += piece.byteLength;
      freeOwn(piece);
    }
    huge.set(cut.at, sum);
  }
  return huge;
}

/** A run belongs to one export, so what was measured is kept with the run. */
const measured = new WeakMap<PlannedRun, MeasuredHuge>();

interface Writing {
  readonly huge: MeasuredHuge;
  readonly loading: Loading;
}

/** Writes a huge message as a chunk. Yields nothing if it is not wanted. */
export async function* hugeChunk(
  cut: HugeRecord,
  run: PlannedRun,
  { huge, loading: { compression } }: Writing,
): AsyncGenerator<Loaded & { kind: "chunks" }> {
  const channelId = writtenId(cut, run);
  if (channelId === undefined) return;
  const { crc, storedBytes } = huge.get(cut.at)!;
  const { timeNs, recordBytes } = cut;
  const index = encodeRecords((builder) => builder.writeMessageIndex({ channelId, records: [[timeNs, 0n]] }));
  const sizes = { storedBytes, uncompressedBytes: recordBytes, startNs: timeNs, endNs: timeNs };
  const head = encodeChunkHead({ ...sizes, crc, compression });
  const chunkBytes = head.byteLength + storedBytes;
  const channels = [{ channelId, messageCount: 1, start: chunkBytes }];
  const facts = { ...sizes, chunkBytes, indexesBytes: index.byteLength, channels };
  yield { kind: "chunks", bytes: head, checksum: crc32(head), chunks: [facts] };
  let writtenBytes = 0;
  for await (const bytes of compressPieces(compression, recordOf(cut, run), cut.recordBytes)) {
    writtenBytes += bytes.byteLength;
    yield { kind: "chunks", bytes, checksum: crc32(bytes), chunks: [] };
  }
  if (writtenBytes !== storedBytes)
    throw new SourceChangedError(`${placeOf(run)} was not the same when it was read again`);
  yield { kind: "chunks", bytes: index, checksum: crc32(index), chunks: [] };
}

/** Makes the fragment that stands for a huge message among messages that are merged. Answers undefined if it is not wanted. */
export function headOf(cut: HugeRecord, run: PlannedRun): Fragment | undefined {
  const channelId = writtenId(cut, run);
  if (channelId === undefined) return undefined;
  return { records: headIn(cut, channelId), starts: Uint32Array.of(0), timesNs: BigUint64Array.of(cut.timeNs) };
}

/** Answers the id in the written file, or undefined if the message is not wanted. */
function writtenId({ channelId, timeNs }: HugeRecord, run: PlannedRun): number | undefined {
  const { ids, startNs = 0n, endNs = 2n ** 63n } = run.source.selection;
  const id = ids.get(channelId) ?? UNWANTED;
  return id === UNWANTED || timeNs < startNs || timeNs > endNs ? undefined : id;
}

async function* recordOf(cut: HugeRecord, run: PlannedRun): AsyncGenerator<Uint8Array> {
  yield headIn(cut, writtenId(cut, run)!);
  yield* dataOf(cut);
}

/** The message's head with the channel's id in the written file. */
function headIn(cut: HugeRecord, channelId: number): Uint8Array {
  const head = new Uint8Array(cut.head);
  new DataView(head.buffer).setUint16(RECORD_HEAD_BYTES, channelId, true);
  return head;
}

/** The data of a huge message, up to the record's end. */
export async function* dataOf(cut: HugeRecord): AsyncGenerator<Uint8Array> {
  let skipBytes = cut.dataAt;
  for await (const piece of cut.content) {
    const skipped = Math.min(skipBytes, piece.byteLength);
    skipBytes -= skipped;
    // Every piece but the first belongs to the reader.
    if (skipped < piece.byteLength) yield piece.subarray(skipped);
  }
}

async function* noteChecksum(pieces: AsyncIterable<Uint8Array>, sum: { crc: number }): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    sum.crc = crc32(piece, sum.crc);
    yield piece;
  }
}
