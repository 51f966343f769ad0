import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { type Reason, RecordingFault } from "../faults/reasons.ts";
import { asBuffer } from "../memory/as-buffer.ts";
import { openCursor, readU32 } from "../reading/field-cursor.ts";
import type { AttachmentSummary } from "../survey/summary.ts";
import { addAttachment, addChannel, addMetadata, addSchema, countMessages } from "../survey/survey.ts";
import type { Verifying } from "../verified/verifying.ts";
import { readMcapEnd } from "./mcap-end.ts";
import { footerBytes, magic, opcodes, recordHeadBytes } from "./opcodes.ts";
import { openRecord, openRecordStart, parseRecordHead, type RecordHead } from "./record-head.ts";
import { readAttachmentHead, readChannel, readHeader, readMetadata, readSchema } from "./records.ts";
import { resyncMcap } from "./resync-mcap.ts";
import { endOfRecord } from "./stored-chunk.ts";
import { createToldBySummary } from "./told-by-summary.ts";
import { createChunkVerifier } from "./verify-chunk.ts";
import { createLooseVerifier } from "./verify-loose.ts";

/**
 * Reads every byte of a file once and in order, believes nothing that it says of itself, and names each run of messages. A file
 * that cannot be given whole faults with the reason; a salvage goes on where something makes sense again, and faults never.
 */
export async function verifyMcap(verifying: Verifying): Promise<void> {
  const { reader, context } = verifying;
  const end = await endOf(verifying);
  const walk = createWalk(verifying, end.footerOffset);
  let offset: number = magic.byteLength;
  while (offset < end.footerOffset) {
    let head: RecordHead | undefined;
    try {
      const bytes = reader.peek(offset, recordHeadBytes) ?? (await reader.fetch(offset, recordHeadBytes));
      head = parseRecordHead(bytes, offset, context.source.sizeBytes);
      const visited = walk.visit(head);
      offset = typeof visited === "number" ? visited : await visited;
    } catch (error) {
      offset = await goOn({ error, offset, head, verifying, walk, footerOffset: end.footerOffset });
    }
  }
  await walk.end();
  requireKnownChannels(verifying);
  if (!verifying.isSalvage) walk.compareSummary();
  if (end.summaryStart !== undefined) await checkSummary(verifying, { ...end, summaryStart: end.summaryStart });
}

interface End {
  footerOffset: number;
  /** Undefined where there is no summary, or the footer is damaged. */
  summaryStart: number | undefined;
  summaryCrc: number;
}

/** The footer, which says where the records end; a salvage needs none. */
async function endOf({ context, isSalvage, damage }: Verifying): Promise<End> {
  const { source } = context;
  try {
    const { footerOffset, summaryStart, summaryCrc, isSound } = await readMcapEnd(
      source,
      footerBytes + magic.byteLength,
    );
    if (isSound) return { footerOffset, summaryStart: summaryStart || undefined, summaryCrc };
    damage.addSummary(footerOffset, badFooter(footerOffset));
    return { footerOffset, summaryStart: undefined, summaryCrc: 0 };
  } catch (error) {
    if (!isSalvage || !(error instanceof RecordingFault)) throw error;
    return { footerOffset: source.sizeBytes, summaryStart: undefined, summaryCrc: 0 };
  }
}

function badFooter(offset: number): Reason {
  return { code: "BadFooter", text: `the footer at byte ${offset} names a summary that cannot be there` };
}

type Walk = ReturnType<typeof createWalk>;

/** Visits records; answers where the next begins. */
function createWalk(verifying: Verifying, footerOffset: number) {
  const { survey, context, reader, damage, schemaPlaces } = verifying;
  const { limits } = context;
  const verifyChunk = createChunkVerifier(verifying, footerOffset);
  const loose = createLooseVerifier(verifying);
  const told = createToldBySummary(verifying);
  /** Behind the end of the data the records repeat what the data say. Where data come again, it was not the end. */
  let isBehindData = false;
  let lastOpcode = 0;
  let faultCount = 0;

  const addDefinition = async (head: RecordHead): Promise<number> => {
    const cursor = await openRecord(head, reader, context);
    try {
      if (head.opcode === opcodes.schema) {
        const schema = readSchema(cursor);
        if (schema.id === 0) return head.end; // spec: MCAP "Schema": 0 is no id
        const at = [head.contentOffset + cursor.position - schema.data.byteLength, schema.data.byteLength] as const;
        addSchema(survey, schema, limits);
        const stored = survey.schemas.get(schema.id)!;
        if (!schemaPlaces.has(stored)) schemaPlaces.set(stored, at);
      } else addChannel(survey, readChannel(cursor), limits);
      return await endOfRecord(head, head.contentOffset + cursor.position, verifying);
    } catch (error) {
      if (!isBehindData || !(error instanceof RecordingFault) || error.reason.code === "TooManyChannels") throw error;
      damage.addSummary(head.offset, error.reason);
      return head.end;
    }
  };
  /** Answers where the next begins. */
  const readOther = async (head: RecordHead): Promise<number> => {
    const { opcode } = head;
    if (opcode === opcodes.schema || opcode === opcodes.channel) return addDefinition(head);
    if (opcode === opcodes.attachment) return verifyAttachment(head, verifying);
    if (opcode === opcodes.statistics || opcode === opcodes.chunkIndex) await told.read(head);
    if (opcode === opcodes.header || opcode === opcodes.metadata) {
      const cursor = await openRecord(head, reader, context);
      if (opcode === opcodes.header) Object.assign(survey, readHeader(cursor));
      else addMetadata(survey, readMetadata(cursor), limits);
      return endOfRecord(head, head.contentOffset + cursor.position, verifying);
    }
    if (opcode === opcodes.dataEnd) {
      if (!isBehindData) await checkData(head, verifying);
      isBehindData = true;
    }
    if (opcode === opcodes.footer)
      throw new RecordingFault("BadFooter", `a footer stands at byte ${head.offset}, before the file's end`);
    return head.end;
  };
  const visit = (head: RecordHead): number | Promise<number> => {
    const { opcode, end } = head;
    lastOpcode = opcode;
    if (isData.has(opcode)) isBehindData = false;
    if (end > footerOffset) throw tooLong(head);
    if (opcode === opcodes.message) return loose.add(head) ?? end;
    if (opcode > opcodes.dataEnd || isIndex.has(opcode)) return end;
    return visitSlowly(head);
  };
  const visitSlowly = async (head: RecordHead): Promise<number> => {
    if (head.opcode !== opcodes.chunk) return readOther(head);
    await loose.end();
    told.foundChunk(head.offset);
    return verifyChunk(head);
  };
  return {
    visit,
    end: loose.end,
    /** A summary that was overwritten may have a million places that make no sense. */
    mayGoOn() {
      faultCount += 1;
      return faultCount < mostSummaryFaults;
    },
    compareSummary: () => told.compare(countMessages(survey)),
    /** Behind the end of the data, and not at what should stand before it. */
    get isInSummary() {
      return isBehindData && !isData.has(lastOpcode);
    },
  };
}

const mostSummaryFaults = 10_000;

function tooLong({ offset }: RecordHead): RecordingFault {
  return new RecordingFault("LengthBeyondFile", `the record at byte ${offset} is longer than the rest of the file`);
}

const isData: ReadonlySet<number> = new Set([opcodes.chunk, opcodes.message]);
const isIndex: ReadonlySet<number> = new Set([
  opcodes.messageIndex,
  opcodes.attachmentIndex,
  opcodes.metadataIndex,
  opcodes.summaryOffset,
]);

interface Stop {
  error: unknown;
  offset: number;
  /** Of the record that stands there, where that much makes sense. */
  head: RecordHead | undefined;
  verifying: Verifying;
  walk: Walk;
  footerOffset: number;
}

/** Where the walk goes on behind what makes no sense. In the summary nothing is lost; what is no summary may still stand behind it. */
async function goOn({ error, offset, head, verifying, walk, footerOffset }: Stop): Promise<number> {
  if (!(error instanceof RecordingFault)) throw error;
  const { damage, isSalvage, survey } = verifying;
  if (walk.isInSummary && survey.tallies.size > 0) {
    damage.addSummary(offset, error.reason);
    const end = head?.end ?? (await framedEnd(verifying, offset));
    return end <= footerOffset && walk.mayGoOn() ? end : footerOffset;
  }
  if (!isSalvage) throw error;
  await walk.end();
  const next = await resyncMcap(verifying, offset);
  damage.addGap({ offset, end: next ?? footerOffset, reason: error.reason });
  return next ?? footerOffset;
}

/** Where a record ends whose type makes no sense, by its length alone. To look for the next chunk would find copies that do not count. */
async function framedEnd({ reader, context }: Verifying, offset: number): Promise<number> {
  if (offset + recordHeadBytes > context.source.sizeBytes) return Number.POSITIVE_INFINITY;
  const bytes = asBuffer(await reader.fetch(offset, recordHeadBytes));
  return offset + recordHeadBytes + Number(bytes.readBigUInt64LE(1));
}

/** Messages of a channel that nothing introduces cannot be given: nobody knows what they are. */
function requireKnownChannels({ survey, isSalvage, damage }: Verifying): void {
  for (const [id, { messageCount }] of survey.tallies) {
    if (survey.channels.has(id)) continue;
    const text = `${messageCount} messages are of channel ${id}, which is not in the file`;
    if (!isSalvage) throw new RecordingFault("BadRecord", text);
    damage.addUnknownChannel({ code: "BadRecord", text }, messageCount);
  }
}

/** spec: MCAP "Footer": the CRC covers the section and the footer up to the CRC itself. */
async function checkSummary(
  { context, damage }: Verifying,
  { summaryStart, footerOffset, summaryCrc }: End & { summaryStart: number },
): Promise<void> {
  if (summaryCrc === 0) return;
  const end = footerOffset + recordHeadBytes + 16;
  let crc = 0;
  for (let at = summaryStart; at < end; at += pieceBytes) {
    crc = crc32(await context.source.read(at, Math.min(pieceBytes, end - at)), crc);
  }
  if (crc === summaryCrc) return;
  const text = `the summary at byte ${summaryStart} fails its checksum; the recording was read without it`;
  damage.addSummary(summaryStart, { code: "BadSummary", text });
}

const pieceBytes = 1024 * 1024;

/** Chunks have checksums of their own; the one of the data section decides where they do not cover every message. */
async function checkData(
  head: RecordHead,
  { reader, survey, damage, isSalvage, checksumUpTo }: Verifying,
): Promise<void> {
  const place = `the record at byte ${head.offset}`;
  const told = readU32(openCursor(await reader.fetch(head.contentOffset, Math.min(4, head.contentBytes)), place));
  if (told === 0 || (await checksumUpTo(head.offset)) === told) return;
  const text = "the messages fail the checksum of the data section; the file is damaged somewhere before it";
  if (survey.hasUncheckedMessages && !isSalvage) throw new RecordingFault("BadRecord", text);
  damage.addChecksum(head.offset, { code: "BadRecord", text });
}

/** One that is damaged, or has no time that can be, is told of: the messages are not its fault. */
async function verifyAttachment(head: RecordHead, verifying: Verifying): Promise<number> {
  const { reader, context, survey, damage } = verifying;
  let attachment: AttachmentSummary | undefined;
  try {
    const cursor = await openRecordStart(head, reader, attachmentStartBytes);
    attachment = { ...readAttachmentHead(cursor, head.contentOffset), crc: 0 };
    const end = await endOfRecord(head, attachment.dataOffset + attachment.sizeBytes + 4, verifying);
    await hashAttachment(attachment, head, verifying);
    addAttachment(survey, attachment, context.limits);
    return end;
  } catch (error) {
    if (!(error instanceof RecordingFault) || error.reason.code === "TooManyRecords") throw error;
    damage.addAttachment(head.offset, error.reason, attachment?.name);
    return head.end;
  }
}

/** Name and media type must fit. */
const attachmentStartBytes = 4 * 1024;

/** spec: MCAP "Attachment": the CRC covers everything from the log time to the end of the data. */
async function hashAttachment(attachment: AttachmentSummary, head: RecordHead, { reader }: Verifying): Promise<void> {
  const { dataOffset, sizeBytes, name } = attachment;
  const dataEnd = dataOffset + sizeBytes;
  if (dataEnd + 4 > head.end)
    throw new RecordingFault(
      "BadRecord",
      `the attachment "${name}" at byte ${head.offset} says that it is longer than its record`,
    );
  const hash = createHash("sha256");
  let crc = 0;
  let at = head.contentOffset;
  for await (const piece of reader.stream(at, dataEnd - at)) {
    crc = crc32(piece, crc);
    hash.update(piece.subarray(Math.max(0, dataOffset - at)));
    at += piece.byteLength;
  }
  attachment.dataSha256 = hash.digest("hex");
  attachment.crc = readU32(openCursor(await reader.fetch(dataEnd, 4), `the attachment at byte ${head.offset}`));
  if (attachment.crc === 0 || crc === attachment.crc) return;
  const text = `the attachment "${name}" at byte ${head.offset} fails its checksum; the file is damaged there`;
  throw new RecordingFault("BadRecord", text);
}
