import { crc32 } from "node:zlib";
import type { InspectLimits } from "../faults/limits.ts";
import { RecordingError } from "../faults/reasons.ts";
import { type FieldCursor, openCursor } from "../reading/field-cursor.ts";
import type { ReadContext } from "../reading/read-context.ts";
import { isInside } from "../sources/source.ts";
import { type Channel, refuseMore, type Schema, tooManyChannels } from "../survey/survey.ts";
import { type ChunkTable, createChunkTable } from "./chunk-table.ts";
import type { McapEnd } from "./mcap-end.ts";
import { opcodes, RECORD_HEAD_BYTES } from "./opcodes.ts";
import {
  type RecordSpan,
  readChannel,
  readChunkIndex,
  readIndexedSpan,
  readSchema,
  readStatistics,
  readSummaryOffset,
  type Statistics,
  type SummaryGroup,
} from "./records.ts";

export interface SummarySection {
  readonly schemas: Schema[];
  readonly channels: Channel[];
  statistics?: Statistics;
  /** Absent if the chunk indexes were too many to be read. */
  chunks?: ChunkTable;
  readonly attachments: RecordSpan[];
  readonly metadata: RecordSpan[];
  /** All of it was compared with its checksum. */
  isProven?: boolean;
}

/**
 * Reads the summary section and compares it with its checksum. It reads only those groups of a large section that describe the recording,
 * which the summary offsets name. Answers nothing if there is no section, or if it is too large to be read at all.
 */
export async function readSummarySection(
  end: McapEnd,
  context: ReadContext,
  options: { wantsChunks?: boolean } = {},
): Promise<SummarySection> {
  const { summaryStart, footerOffset } = end;
  const sectionBytes = footerOffset - summaryStart;
  if (summaryStart === 0 || sectionBytes === 0) return parseSection([], { isWhole: true, context });
  const wholeBytes = options.wantsChunks ? context.limits.maxSummaryBytes : WHOLE_SECTION_BYTES;
  if (sectionBytes <= wholeBytes) {
    const section = parseSection([await readWhole(end, context)], { isWhole: true, context });
    return { ...section, isProven: end.summaryCrc !== 0 };
  }
  const groups = await readGroups(end, context);
  if (groups) return parseSection(groups, { isWhole: false, context });
  const whole = sectionBytes <= context.limits.maxSummaryBytes ? [await readWhole(end, context)] : [];
  return parseSection(whole, { isWhole: true, context });
}

const WHOLE_SECTION_BYTES = 512 * 1024;

interface Piece {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

async function readWhole(end: McapEnd, context: ReadContext): Promise<Piece> {
  const bytes = await readTail(end, end.summaryStart, context);
  const sectionBytes = end.footerOffset - end.summaryStart;
  // spec: MCAP "Footer": the CRC covers the section and the footer up to the CRC itself.
  if (end.summaryCrc !== 0 && crc32(bytes.subarray(0, sectionBytes + RECORD_HEAD_BYTES + 16)) !== end.summaryCrc) {
    throw badSummary(end.summaryStart, "fails its checksum");
  }
  return { offset: end.summaryStart, bytes: bytes.subarray(0, sectionBytes) };
}

/** Reads from `offset` to the end of the file. The bytes of the first read are not read again. */
async function readTail(end: McapEnd, offset: number, { source }: ReadContext): Promise<Uint8Array> {
  if (offset >= end.tailOffset) return end.tail.subarray(offset - end.tailOffset);
  const before = await source.read(offset, end.tailOffset - offset);
  return Buffer.concat([before, end.tail]);
}

/** Reads every group except the chunk indexes, which grow with the recording and say nothing that the statistics do not. */
async function readGroups(end: McapEnd, context: ReadContext): Promise<Piece[] | undefined> {
  const { summaryStart, summaryOffsetStart, footerOffset } = end;
  if (summaryOffsetStart === 0 || footerOffset - summaryOffsetStart > MAX_OFFSETS_BYTES) return undefined;
  const offsets = await readTail(end, summaryOffsetStart, context);
  const groups: SummaryGroup[] = [];
  const piece = { offset: summaryOffsetStart, bytes: offsets.subarray(0, footerOffset - summaryOffsetStart) };
  for (const { opcode, cursor } of eachRecord(piece)) {
    if (opcode === opcodes.summaryOffset) groups.push(readSummaryOffset(cursor));
  }
  const wanted = groups.filter(({ opcode }) => opcode !== opcodes.chunkIndex);
  const wantedBytes = wanted.reduce((sum, group) => sum + group.lengthBytes, 0);
  const isInSection = ({ offset, lengthBytes }: SummaryGroup) =>
    offset >= summaryStart && isInside(offset, lengthBytes, summaryOffsetStart);
  if (!groups.every(isInSection) || wantedBytes > context.limits.maxSummaryBytes) return undefined;
  return Promise.all(
    wanted.map(async ({ offset, lengthBytes }) => ({ offset, bytes: await context.source.read(offset, lengthBytes) })),
  );
}

const MAX_OFFSETS_BYTES = 64 * 1024;

function parseSection(
  pieces: Piece[],
  { isWhole, context }: { isWhole: boolean; context: ReadContext },
): SummarySection {
  const section: SummarySection = { schemas: [], channels: [], attachments: [], metadata: [] };
  if (isWhole) section.chunks = createChunkTable();
  for (const piece of pieces) {
    for (const { opcode, cursor } of eachRecord(piece)) {
      addRecord(section, opcode, cursor);
      refuseFlood(section, context.limits);
    }
  }
  return section;
}

function addRecord(section: SummarySection, opcode: number, cursor: FieldCursor): void {
  if (opcode === opcodes.schema) section.schemas.push(readSchema(cursor));
  if (opcode === opcodes.channel) section.channels.push(readChannel(cursor));
  if (opcode === opcodes.statistics) section.statistics = readStatistics(cursor);
  if (opcode === opcodes.chunkIndex) section.chunks?.add(readChunkIndex(cursor));
  if (opcode === opcodes.attachmentIndex) section.attachments.push(readIndexedSpan(cursor));
  if (opcode === opcodes.metadataIndex) section.metadata.push(readIndexedSpan(cursor));
}

/** Where the records that the summary points at begin, and where they end, each in order. */
export function edgesOf({ chunks, attachments, metadata }: SummarySection): {
  starts: Float64Array;
  ends: Float64Array;
} {
  const count = (chunks?.length ?? 0) + attachments.length + metadata.length;
  const [starts, ends] = [new Float64Array(count), new Float64Array(count)];
  let at = 0;
  for (const spans of [chunks?.inOrder() ?? [], attachments, metadata]) {
    for (const { offset, lengthBytes } of spans) {
      starts[at] = offset;
      ends[at] = offset + lengthBytes;
      at += 1;
    }
  }
  return { starts: starts.sort(), ends: ends.sort() };
}

/** Refuses too many records, because 64 MiB of tiny records would take ten times as much in memory. */
function refuseFlood(section: SummarySection, limits: InspectLimits): void {
  const { schemas, channels, chunks, attachments, metadata } = section;
  if (schemas.length > MAX_SCHEMAS || channels.length > limits.maxChannels) throw tooManyChannels(limits.maxChannels);
  refuseMore((chunks?.length ?? 0) - 1, "chunks in its summary", limits.maxChunks);
  refuseMore(Math.max(attachments.length, metadata.length) - 1, "records in its summary", limits.maxListedRecords);
}

/** The most schemas that 16-bit ids allow. Repeated schemas are not worth more memory. */
const MAX_SCHEMAS = 65_536;

function* eachRecord({ offset, bytes }: Piece): Generator<{ opcode: number; cursor: FieldCursor }> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  while (at < bytes.byteLength) {
    if (at + RECORD_HEAD_BYTES > bytes.byteLength) throw badSummary(offset + at, "is cut off");
    const opcode = bytes[at]!;
    const start = at + RECORD_HEAD_BYTES;
    const next = start + Number(view.getBigUint64(at + 1, true));
    if (opcode === 0 || next > bytes.byteLength) throw badSummary(offset + at, "is no sequence of records");
    const recordOffset = offset + at;
    const place = (): string => `the summary record at byte ${recordOffset}`;
    yield { opcode, cursor: openCursor(bytes.subarray(start, next), place, "BadSummary") };
    at = next;
  }
}

function badSummary(offset: number, what: string): RecordingError {
  return new RecordingError("BadSummary", `the summary at byte ${offset} ${what}; the file is damaged there`);
}
