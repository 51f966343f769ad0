import { crc32, zstdDecompressSync } from "node:zlib";
import { inRounds, nextRound } from "../codecs/one-by-one.ts";
import { isInside, type RandomAccessSource, SourceChangedError, type SourceRange } from "../sources/source.ts";
import type { AttachmentSummary, MetadataRecord } from "../survey/summary.ts";
import type { Channel, Schema, Tally } from "../survey/survey.ts";
import {
  type AttachmentLine,
  type ChannelLine,
  type DamageLine,
  type FramePlace,
  INDEX_VERSION,
  type IndexHead,
  indexMagic,
  type ListName,
  type MetadataLine,
  type PagePlace,
  type SchemaLine,
  TAIL_BYTES,
} from "./index-layout.ts";
import { decodePage, type RunPage } from "./index-pages.ts";

/** The contents of a recording, read from its index in parts, as they are asked for. */
export interface VerifiedIndex {
  readonly head: IndexHead;
  /** The channels in the order of their numbers in the pages. */
  channels(): Promise<IndexedChannel[]>;
  /** The schemas with these ids, or all. `recording` holds the data of most of them. */
  schemas(recording: RandomAccessSource, ids: ReadonlySet<number> | undefined): Promise<Map<number, Schema>>;
  attachments(): Promise<AttachmentSummary[]>;
  metadata(): Promise<MetadataRecord[]>;
  damage(): Promise<DamageLine[]>;
  /** The pages with runs in a span of time, in the order of the file. They have other runs too. */
  pages(span: Span): AsyncGenerator<{ number: number; page: RunPage }>;
  page(number: number): Promise<RunPage>;
  /** Announces that the pages with runs in a span are read next, until the result is disposed of. */
  expectPages(span: Span): Disposable | undefined;
}

export interface IndexedChannel {
  readonly id: number;
  /** Absent if nothing in the recording introduces the channel. */
  readonly channel?: Channel;
  readonly tally: Tally;
}

interface Span {
  readonly startNs?: bigint | undefined;
  readonly endNs?: bigint | undefined;
}

/** The bytes are no index that this version can read, so that it must be made again. */
export class IndexUnreadableError extends Error {
  constructor(text: string) {
    super(text);
    this.name = "IndexUnreadableError";
  }
}

/** So much at the end of an index is read first. Most indexes are smaller. */
export const INDEX_END_BYTES: number = 64 * 1024;

/** Reads the end of an index, some kilobytes. Throws {@link IndexUnreadableError}, and what reading throws. */
export async function openVerifiedIndex(source: RandomAccessSource): Promise<VerifiedIndex> {
  const { read, endStart } = await readEndAhead(source);
  const head = await readHead(source, read);
  const inflate = async ([offset, bytes, sizeBytes]: FramePlace): Promise<Uint8Array> =>
    decompress(await read(offset, bytes), sizeBytes);
  const listOf = async <L, T>(name: ListName, to: (line: L) => T): Promise<T[]> => {
    const values: T[] = [];
    for (const [index, place] of head.lists[name].entries()) {
      if (index > 0) await nextRound(); // a block takes some milliseconds
      for (const line of parseLines<L>(await inflate(place))) values.push(to(line));
    }
    return values;
  };
  const list = <L>(name: ListName): Promise<L[]> => listOf<L, L>(name, (line) => line);
  const page = async (number: number) => decodePage(await inflate(head.pages[number]!.at));
  const expectPages = (span: Span) => source.expect?.(rangesOf(head, span).filter(({ start }) => start < endStart));
  return {
    head,
    channels: () => listOf("channels", toChannel),
    schemas: async (recording, ids) => readSchemas(await list<SchemaLine>("schemas"), recording, ids),
    attachments: () => listOf("attachments", toAttachment),
    metadata: () => listOf("metadata", toMetadata),
    damage: () => list<DamageLine>("damage"),
    pages: (span) => readPages({ head, page, expectPages }, span),
    page,
    expectPages,
  };
}

/** The pages with runs in the span. Each is read when it is asked for. */
export async function* readPages(
  { head, page, expectPages }: Pick<VerifiedIndex, "head" | "page" | "expectPages">,
  span: Span,
): ReturnType<VerifiedIndex["pages"]> {
  using _ahead = expectPages(span);
  for (const [number, place] of head.pages.entries())
    if (reaches(place, span)) yield { number, page: await page(number) };
}

function rangesOf({ pages }: IndexHead, span: Span): SourceRange[] {
  const wanted = pages.filter((place) => reaches(place, span));
  return wanted.map(({ at: [start, bytes] }) => ({ start, end: start + bytes }));
}

type Read = (offset: number, length: number) => Promise<Uint8Array>;

async function readEndAhead(source: RandomAccessSource): Promise<{ read: Read; endStart: number }> {
  const start = Math.max(0, source.sizeBytes - INDEX_END_BYTES);
  const end = await source.read(start, source.sizeBytes - start);
  const read: Read = async (offset, length) => {
    if (!isInside(offset, length, source.sizeBytes)) throw unreadable("refers to what is not there");
    return offset >= start ? end.subarray(offset - start, offset - start + length) : source.read(offset, length);
  };
  return { read, endStart: start };
}

async function readHead(source: RandomAccessSource, read: Read): Promise<IndexHead> {
  const tail = Buffer.from(await read(source.sizeBytes - TAIL_BYTES, TAIL_BYTES));
  if (!tail.subarray(16).equals(indexMagic)) throw unreadable("does not end as one");
  const [offset, bytes] = [Number(tail.readBigUInt64LE(0)), tail.readUInt32LE(8)];
  const text = decompress(await read(offset, bytes), tail.readUInt32LE(12));
  const head = JSON.parse(Buffer.from(text).toString()) as IndexHead;
  if (head.version !== INDEX_VERSION) throw unreadable(`is of version ${head.version}`);
  return head;
}

function unreadable(what: string): IndexUnreadableError {
  return new IndexUnreadableError(`the verified index ${what}`);
}

/** Throws if the frame is damaged, because it has a checksum. */
function decompress(bytes: Uint8Array, sizeBytes: number): Uint8Array {
  try {
    return zstdDecompressSync(bytes, { maxOutputLength: sizeBytes, chunkSize: Math.max(64, sizeBytes + 1) });
  } catch (error) {
    throw unreadable(`is damaged: ${(error as Error).message}`);
  }
}

function parseLines<L>(block: Uint8Array): L[] {
  return JSON.parse(`[${Buffer.from(block).toString().replaceAll("\n", ",")}]`) as L[];
}

function reaches({ startNs, endNs }: PagePlace, span: Span): boolean {
  const isBefore = span.startNs !== undefined && BigInt(endNs) < span.startNs;
  const isBehind = span.endNs !== undefined && BigInt(startNs) > span.endNs;
  return !isBefore && !isBehind;
}

function toChannel(line: ChannelLine): IndexedChannel {
  const { id, schemaId, topic, messageEncoding, metadata, messageCount = 0, startNs, endNs } = line;
  const tally = { messageCount, startNs: toBigInt(startNs), endNs: toBigInt(endNs) };
  if (topic === undefined) return { id, tally };
  return { id, tally, channel: { id, schemaId, topic, messageEncoding, metadata: Object.fromEntries(metadata) } };
}

function toBigInt(text: string | undefined): bigint | undefined {
  return text === undefined ? undefined : BigInt(text);
}

/** Reads all schemas in few reads, because they mostly stand together. */
async function readSchemas(
  lines: readonly SchemaLine[],
  recording: RandomAccessSource,
  ids: ReadonlySet<number> | undefined,
): Promise<Map<number, Schema>> {
  const schemas = new Map<number, Schema>();
  const wanted = lines.filter(({ id }) => !ids || ids.has(id)).sort((a, b) => startOf(a) - startOf(b));
  let held = { start: 0, bytes: new Uint8Array(0) };
  for await (const [index, { id, name, encoding, at, crc, data }] of inRounds(wanted.entries())) {
    if (at && (at[0] < held.start || at[0] + at[1] > held.start + held.bytes.byteLength)) {
      const end = endOfNeighbours(wanted, index);
      held = { start: at[0], bytes: new Uint8Array(await recording.read(at[0], end - at[0])) };
    }
    const bytes = at ? held.bytes.slice(at[0] - held.start, at[0] - held.start + at[1]) : Buffer.from(data!, "base64");
    if (crc !== undefined && crc32(bytes) !== crc)
      throw new SourceChangedError(`the schema "${name}" is not what it was when the recording was verified`);
    schemas.set(id, { id, name, encoding, data: bytes });
  }
  return schemas;
}

function startOf({ at }: SchemaLine): number {
  return at?.[0] ?? 0;
}

/** Where those lines end that stand at most a few kilobytes apart. */
function endOfNeighbours(lines: readonly SchemaLine[], first: number): number {
  let end = startOf(lines[first]!);
  for (let index = first; index < lines.length; index += 1) {
    const { at } = lines[index]!;
    if (!at) continue;
    if (at[0] > end + GAP_BYTES) break;
    end = Math.max(end, at[0] + at[1]);
  }
  return end;
}

const GAP_BYTES = 16 * 1024;

function toAttachment({ logTimeNs, createTimeNs, ...rest }: AttachmentLine): AttachmentSummary {
  return { ...rest, logTimeNs: BigInt(logTimeNs), createTimeNs: BigInt(createTimeNs) };
}

function toMetadata({ name, metadata }: MetadataLine): MetadataRecord {
  return { name, metadata: Object.fromEntries(metadata) };
}
