import { RecordingError } from "../faults/reasons.ts";
import type { ChunkHeader } from "../reading/chunk.ts";
import { type FieldCursor, openCursor, readU16, readU32 } from "../reading/field-cursor.ts";
import type { ReadContext } from "../reading/read-context.ts";
import { openWindowReader, refuseBeyond, type WindowReader } from "../reading/window-reader.ts";
import { createSpanNotes, type SpanNotes } from "../survey/message-spans.ts";
import type { AttachmentSummary, MetadataRecord } from "../survey/summary.ts";
import type { Channel, Schema, Tally } from "../survey/survey.ts";
import { INDEX_ENTRY_BYTES, tallyEntries } from "./index-entries.ts";
import { isFileStart, joinedAt } from "./mcap-end.ts";
import { MESSAGE_HEAD_BYTES, magic, opcodes, RECORD_HEAD_BYTES } from "./opcodes.ts";
import { openRecord, openRecordStart, parseRecordHead, type RecordHead } from "./record-head.ts";
import { readAttachmentHead, readChannel, readChunkHead, readHeader, readMetadata, readSchema } from "./records.ts";
import { startsWithRecord } from "./swallowed-records.ts";

export type McapChunk = ChunkHeader & { readonly startNs: bigint; readonly endNs: bigint };

/** One record of the data section. `end` is the first byte that was not needed for it. */
export type McapItem = { readonly end: number } & (
  | { readonly kind: "header"; readonly profile: string; readonly library: string }
  | { readonly kind: "schema"; readonly schema: Schema }
  | { readonly kind: "channel"; readonly channel: Channel }
  /** The time may lie beyond signed 64 bits. */
  | { readonly kind: "message"; readonly channelId: number; readonly logTimeNs: bigint; readonly offset: number }
  | ({ readonly kind: "chunk"; readonly chunk: McapChunk } & Indexes)
  | { readonly kind: "attachment"; readonly attachment: AttachmentSummary; readonly offset: number }
  | { readonly kind: "metadata"; readonly metadata: MetadataRecord }
  | ({ readonly kind: "leftOut" } & LeftOutRecord)
  | { readonly kind: "dataEnd" }
  | { readonly kind: "other" }
);

/** The statements of the message indexes behind a chunk. */
interface Indexes {
  /** It is empty if there are none, or if they make no sense. */
  readonly indexed: Map<number, Tally>;
}

/** A record that is too large to be read and is not needed. `id` is that of a schema or channel. */
export interface LeftOutRecord {
  readonly opcode: number;
  readonly id: number;
}

/**
 * Walks the records without decompressing, up to the footer. Throws where the file stops making sense; behind the end of the data such a
 * place only ends the walk, because what counts was read. If data come again, it was not the end. Millions of small records are common, so
 * what lies in the window is visited without awaiting anything.
 */
export async function walkMcap(
  context: ReadContext,
  visit: (item: McapItem) => Promise<void> | undefined,
): Promise<void> {
  const reader = openWindowReader(context);
  const footer = await walkToFooter({ context, reader }, visit);
  const behind = footer && footer.end + magic.byteLength;
  if (behind !== undefined && (await isFileStart(behind, { context, reader }))) throw joinedAt(behind);
}

/** Answers undefined if the walk ended before. */
async function walkToFooter(
  { context, reader }: { context: ReadContext; reader: WindowReader },
  visit: (item: McapItem) => Promise<void> | undefined,
): Promise<RecordHead | undefined> {
  let offset: number = magic.byteLength;
  let isBehindData = false;
  let hasMessages = false;
  try {
    while (true) {
      const bytes = reader.peek(offset, RECORD_HEAD_BYTES) ?? (await reader.fetch(offset, RECORD_HEAD_BYTES));
      const head = parseRecordHead(bytes, offset, context.source.sizeBytes);
      if (head.opcode === opcodes.footer) return head;
      const item = peekItem(head, reader, context) ?? (await readItem(head, reader, context));
      const visited = visit(item);
      if (visited !== undefined) await visited;
      const isData = item.kind === "message" || item.kind === "chunk";
      hasMessages ||= isData;
      isBehindData = !isData && (isBehindData || item.kind === "dataEnd");
      offset = item.end;
    }
  } catch (error) {
    if (!isBehindData || !hasMessages || !(error instanceof RecordingError)) throw error;
    return undefined;
  }
}

/** A message or unknown record whose head lies in the window. */
function peekItem(head: RecordHead, reader: WindowReader, { limits }: ReadContext): McapItem | undefined {
  if (head.opcode > opcodes.dataEnd) return { kind: "other", end: head.end };
  if (head.opcode !== opcodes.message) return undefined;
  if (head.contentBytes > limits.maxChunkBytes) {
    const text = `the message at byte ${head.offset} is ${head.contentBytes} bytes large; at most ${limits.maxChunkBytes} are read`;
    throw new RecordingError("RecordTooLarge", text);
  }
  if (head.contentBytes < MESSAGE_HEAD_BYTES) {
    throw new RecordingError("BadRecord", `the message at byte ${head.offset} is too short; the file is damaged there`);
  }
  const bytes = reader.peek(head.contentOffset, MESSAGE_HEAD_BYTES);
  return bytes && toMessage(head, bytes);
}

function toMessage({ offset, end }: RecordHead, bytes: Uint8Array): McapItem {
  const view = new DataView(bytes.buffer, bytes.byteOffset, MESSAGE_HEAD_BYTES);
  const logTimeNs = view.getBigUint64(6, true);
  return { kind: "message", channelId: view.getUint16(0, true), logTimeNs, offset, end };
}

async function readItem(head: RecordHead, reader: WindowReader, context: ReadContext): Promise<McapItem> {
  const { opcode, end } = head;
  if (opcode === opcodes.message) return toMessage(head, await reader.fetch(head.contentOffset, MESSAGE_HEAD_BYTES));
  if (opcode === opcodes.chunk) return readChunk(head, reader, context);
  if (opcode === opcodes.attachment) return readAttachmentOrNone(head, reader, context);
  if (isLeftOut(head, context)) return { kind: "leftOut", opcode, id: await readId(head, reader), end };
  if (opcode === opcodes.schema) {
    return { kind: "schema", schema: readSchema(await openRecord(head, reader, context)), end };
  }
  if (opcode === opcodes.channel) {
    return { kind: "channel", channel: readChannel(await openRecord(head, reader, context)), end };
  }
  if (opcode === opcodes.metadata) {
    return { kind: "metadata", metadata: readMetadata(await openRecord(head, reader, context)), end };
  }
  if (opcode === opcodes.header) return { kind: "header", ...readHeader(await openRecord(head, reader, context)), end };
  if (opcode === opcodes.dataEnd) return { kind: "dataEnd", end };
  return { kind: "other", end };
}

async function readChunk(head: RecordHead, reader: WindowReader, context: ReadContext): Promise<McapItem> {
  const cursor = await openRecordStart(head, reader, CHUNK_START_BYTES);
  const chunk = readChunkHead(cursor, head.contentOffset);
  chunk.offset = head.offset;
  if (chunk.dataOffset + chunk.storedBytes > head.end) {
    throw new RecordingError(
      "BadChunk",
      `the chunk at byte ${head.offset} says that its content is longer than itself`,
    );
  }
  return { kind: "chunk", chunk, ...(await readIndexes(head.end, reader, context)) };
}

/** Indexes that are cut off or make no sense count as none, because the chunk before them may be sound. */
export async function readIndexes(
  chunkEnd: number,
  reader: WindowReader,
  { source: { sizeBytes } }: ReadContext,
): Promise<Indexes & { end: number }> {
  const found = { indexed: new Map<number, Tally>(), parts: createSpanNotes() };
  const { indexed } = found;
  let end = chunkEnd;
  try {
    while (end + RECORD_HEAD_BYTES <= sizeBytes) {
      const bytes = reader.peek(end, RECORD_HEAD_BYTES) ?? (await reader.fetch(end, RECORD_HEAD_BYTES));
      if (bytes[0] !== opcodes.messageIndex) break;
      const index = parseRecordHead(bytes, end, sizeBytes);
      const entriesEnd = await tallyIndex(index, reader, found);
      end = index.end;
      if (await isCovering(index, entriesEnd, reader)) return { indexed: new Map(), end };
    }
    return { indexed, end };
  } catch (error) {
    if (error instanceof RecordingError) return { indexed: new Map(), end: chunkEnd };
    throw error;
  }
}

/** A chunk starts with times, sizes, a checksum and two lengths. There is room for the name of the compression. */
const CHUNK_START_BYTES = 8 + 8 + 8 + 4 + 4 + 8 + 64;

/** Whether other records stand behind the entries of an index, within its length. */
async function isCovering({ end }: RecordHead, entriesEnd: number, reader: WindowReader): Promise<boolean> {
  if (entriesEnd === end) return false;
  return startsWithRecord(await reader.fetch(entriesEnd, Math.min(end - entriesEnd, MOST_COVERED_BYTES)));
}

/** Enough bytes for the next record in most files. */
const MOST_COVERED_BYTES = 8 * 1024 * 1024;

/** Answers where the entries end. They are read in pieces, because an index may be larger than what should be held. */
async function tallyIndex(
  head: RecordHead,
  reader: WindowReader,
  { indexed, parts }: { readonly indexed: Map<number, Tally>; readonly parts: SpanNotes },
): Promise<number> {
  const start = openCursor(
    await reader.fetch(head.contentOffset, Math.min(6, head.contentBytes)),
    `the index at byte ${head.offset}`,
  );
  const channelId = readU16(start);
  const entriesBytes = readU32(start);
  const entriesOffset = head.contentOffset + 6;
  if (entriesOffset + entriesBytes > head.end || entriesBytes % INDEX_ENTRY_BYTES !== 0) {
    throw new RecordingError(
      "BadRecord",
      `the message index at byte ${head.offset} has a wrong length; the file is damaged there`,
    );
  }
  if (entriesBytes === 0) return entriesOffset;
  const tally = indexed.get(channelId) ?? { messageCount: 0 };
  indexed.set(channelId, tally);
  for (let done = 0; done < entriesBytes; done += INDEX_PIECE_BYTES) {
    const piece = await reader.fetch(entriesOffset + done, Math.min(INDEX_PIECE_BYTES, entriesBytes - done));
    tallyEntries({ bytes: piece, offset: head.offset }, tally, parts);
  }
  return entriesOffset + entriesBytes;
}

const INDEX_PIECE_BYTES = 16 * 16 * 1024;

/** Whether a record is left out because its content would be made into objects, which take many times its bytes. */
export function isLeftOut({ opcode, contentBytes }: RecordHead, { limits }: ReadContext): boolean {
  if (!limits.leavesOut) return false;
  return contentBytes > (opcode === opcodes.schema ? limits.maxRecordBytes : limits.maxMapBytes) && isHeld.has(opcode);
}

const isHeld: ReadonlySet<number> = new Set([opcodes.header, opcodes.schema, opcodes.channel, opcodes.metadata]);

/** Reads the id, which a schema or channel begins with. */
export async function readId(head: RecordHead, reader: WindowReader): Promise<number> {
  return readU16(await openRecordStart(head, reader, 2));
}

/** A damaged attachment is left out, because the messages behind it are sound all the same. */
async function readAttachmentOrNone(head: RecordHead, reader: WindowReader, context: ReadContext): Promise<McapItem> {
  const { opcode, end, offset } = head;
  try {
    const { attachment } = await readAttachment(head, reader, context);
    return attachment ? { kind: "attachment", attachment, offset, end } : { kind: "leftOut", opcode, id: 0, end };
  } catch (error) {
    if (error instanceof RecordingError) return { kind: "other", end: head.end };
    throw error;
  }
}

/** Answers no attachment if its name is too large to be read. */
export async function readAttachment(
  head: RecordHead,
  reader: WindowReader,
  { limits }: ReadContext,
): Promise<{ attachment?: AttachmentSummary }> {
  const cursor = await openRecordStart(head, reader, ATTACHMENT_START_BYTES);
  const textsBytes = textsBytesOf(cursor);
  if (limits.leavesOut && textsBytes > cursor.bytes.byteLength && textsBytes <= head.contentBytes) return {};
  const attachment = readAttachmentHead(cursor, head.contentOffset);
  const crcOffset = attachment.dataOffset + attachment.sizeBytes;
  refuseBeyond({ offset: crcOffset, length: 4, sizeBytes: head.end });
  const crc = readU32(openCursor(await reader.fetch(crcOffset, 4), `the attachment at byte ${head.offset}`));
  return { attachment: { ...attachment, crc } };
}

/** How many bytes are needed up to the end of the name, or of the media type if the name is there. */
function textsBytesOf({ view }: FieldCursor): number {
  if (view.byteLength < NAME_AT + 4) return 0;
  const nameEnd = NAME_AT + 4 + view.getUint32(NAME_AT, true);
  return nameEnd + 4 <= view.byteLength ? nameEnd + 4 + view.getUint32(nameEnd, true) + 8 : nameEnd + 4;
}

/** The name stands behind two times. */
const NAME_AT = 16;

/** The name and the media type must fit into it. */
const ATTACHMENT_START_BYTES = 4 * 1024;
