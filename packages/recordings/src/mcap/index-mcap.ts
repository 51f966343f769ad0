import type { InspectLimits } from "../faults/limits.ts";
import { RecordingError } from "../faults/reasons.ts";
import { asBuffer } from "../memory/as-buffer.ts";
import type { ReadContext } from "../reading/read-context.ts";
import { openWindowReader, type WindowReader } from "../reading/window-reader.ts";
import {
  addAttachment,
  addChannel,
  addMetadata,
  addSchema,
  addTally,
  createSurvey,
  holdsSchemaOf,
  type Survey,
} from "../survey/survey.ts";
import type { McapEnd } from "./mcap-end.ts";
import { noteChunks } from "./note-chunks.ts";
import { EMPTY_MESSAGE_BYTES, LEAST_CHUNK_BYTES, magic, opcodes, RECORD_HEAD_BYTES } from "./opcodes.ts";
import { openRecord, parseRecordHead, type RecordHead } from "./record-head.ts";
import { type ChunkIndex, type RecordSpan, readHeader, readMetadata, type Statistics } from "./records.ts";
import { edgesOf, type SummarySection } from "./summary-section.ts";
import { isLeftOut, readAttachment } from "./walk-mcap.ts";

/**
 * Surveys a file by its summary section alone: at most a megabyte in a few reads, whatever the file's size. Answers `undefined` if the
 * summary does not prove that it is complete; then only a skim is reliable.
 */
export async function indexMcap(
  section: SummarySection,
  end: McapEnd,
  context: ReadContext,
): Promise<Survey | undefined> {
  const { statistics } = section;
  if (!statistics || !isComplete(section, statistics, end) || !agrees(section, statistics)) return undefined;
  const gaps = await readGaps(section, statistics, { end, context });
  if (!gaps.areNamed) return undefined;
  const survey = createSurvey();
  addRepeatedChannels(survey, section, context.limits);
  addStatistics(survey, statistics);
  survey.hasLooseMessages = gaps.haveMessages;
  if (!gaps.haveMessages) await noteChunks(survey.spans, filledOf(section), context);
  return (await addIndexedRecords(survey, section, context)) ? survey : undefined;
}

/** Adds the channels whose schema is repeated too, and those without if channels may lack their schema. */
export function addRepeatedChannels(survey: Survey, section: SummarySection, limits: InspectLimits): void {
  for (const schema of section.schemas) addSchema(survey, schema, limits);
  for (const channel of section.channels) {
    const isThere = holdsSchemaOf(survey, channel) || survey.leftOut.schemas.has(channel.schemaId);
    if (isThere || survey.mayLackSchemas) addChannel(survey, channel, limits);
  }
}

/** Whether everything that is counted is there. More channels than counted are fine, because libmcap counts only those with messages. */
function isComplete(section: SummarySection, statistics: Statistics, end: McapEnd): boolean {
  const channelIds = new Set(section.channels.map(({ id }) => id));
  const schemaIds = new Set(section.schemas.map(({ id }) => id));
  let counted = 0;
  for (const [channelId, count] of statistics.messageCounts) {
    if (count > 0 && !channelIds.has(channelId)) return false;
    counted += count;
  }
  const chunkCount = section.chunks?.length ?? statistics.chunkCount;
  return (
    counted === statistics.messageCount &&
    channelIds.size >= statistics.channelCount &&
    schemaIds.size >= statistics.schemaCount &&
    section.channels.every(({ schemaId }) => schemaId === 0 || schemaIds.has(schemaId)) &&
    section.attachments.length === statistics.attachmentCount &&
    section.metadata.length === statistics.metadataCount &&
    chunkCount === statistics.chunkCount &&
    (statistics.messageCount === 0 || hasValidSpan(statistics)) &&
    lieApart(section, end.summaryStart)
  );
}

function hasValidSpan({ startNs, endNs }: Statistics): boolean {
  return startNs <= endNs && endNs < 2n ** 63n;
}

/** Whether the chunk indexes, as far as they were read, give the same span of time. */
function agrees(section: SummarySection, { messageCount, startNs, endNs }: Statistics): boolean {
  for (const chunk of filledOf(section)) {
    if (messageCount > 0 && (chunk.startNs < startNs || chunk.endNs > endNs)) return false;
  }
  return true;
}

function filledOf({ chunks }: SummarySection): Iterable<ChunkIndex> {
  return chunks?.inOrder().filter(({ uncompressedBytes }) => uncompressedBytes > 0) ?? [];
}

interface GapFindings {
  /** Nothing stands between what is indexed that should be indexed too. */
  readonly areNamed: boolean;
  /** Loose messages stand there, or may stand there. */
  readonly haveMessages: boolean;
}

/**
 * Looks for what stands between what is indexed and should be indexed too. In a recording without messages that is anything; in others it
 * is a chunk: recorders that were restarted, and tools that repair, index only a part. Loose messages are counted and not indexed, so that
 * nothing is looked for behind them.
 */
async function readGaps(
  section: SummarySection,
  { messageCount }: Statistics,
  { end, context }: { end: McapEnd; context: ReadContext },
): Promise<GapFindings> {
  const isEmpty = messageCount === 0;
  if (!section.chunks && !isEmpty) return { areNamed: true, haveMessages: true }; // there are too many to be read
  if (isEmpty && [...filledOf(section)].length > 0) return unnamed;
  try {
    return await lookAtGaps({ edges: edgesOf(section), isEmpty, end }, context);
  } catch (error) {
    if (error instanceof RecordingError) return unnamed;
    throw error;
  }
}

const unnamed: GapFindings = { areNamed: false, haveMessages: true };

interface Gaps {
  readonly edges: ReturnType<typeof edgesOf>;
  /** Whether the recording has no message. */
  readonly isEmpty: boolean;
  readonly end: McapEnd;
}

async function lookAtGaps({ edges: { starts, ends }, isEmpty, end }: Gaps, context: ReadContext): Promise<GapFindings> {
  const reader = openWindowReader(context);
  const left = { bytes: isEmpty ? MAX_WALKED_BYTES : Number.POSITIVE_INFINITY, records: MAX_WALKED_RECORDS };
  let haveMessages = false;
  for (let index = 0; index <= starts.length; index += 1) {
    const gap = { from: ends[index - 1] ?? magic.byteLength, to: starts[index] ?? end.summaryStart };
    if (!isEmpty && gap.to - gap.from < LEAST_CHUNK_BYTES) {
      haveMessages ||= await mayHoldMessage(gap, reader);
      continue;
    }
    const found = await lookAtGap(gap, isEmpty, { reader, context, left });
    if (found === "unnamed") return unnamed;
    haveMessages ||= found === "messages";
  }
  return { areNamed: true, haveMessages };
}

/** Whether a gap that is too short for a chunk holds a message, or something else that is no record. */
async function mayHoldMessage({ from, to }: { from: number; to: number }, reader: WindowReader): Promise<boolean> {
  const lengthBytes = to - from;
  if (lengthBytes < EMPTY_MESSAGE_BYTES) return false;
  const bytes = asBuffer(await reader.fetch(from, lengthBytes));
  let at = 0;
  while (at + RECORD_HEAD_BYTES <= lengthBytes && bytes[at] !== opcodes.message)
    at += RECORD_HEAD_BYTES + Number(bytes.readBigUInt64LE(at + 1));
  return at !== lengthBytes;
}

interface GapReading {
  readonly reader: WindowReader;
  readonly context: ReadContext;
  /** How much may still be walked. */
  readonly left: { bytes: number; records: number };
}

async function lookAtGap(
  { from, to }: { from: number; to: number },
  isEmpty: boolean,
  { reader, context, left }: GapReading,
): Promise<"nothing" | "messages" | "unnamed"> {
  left.bytes -= to - from;
  if (left.bytes < 0) return "unnamed";
  for (let offset = from; offset < to; left.records -= 1) {
    const head = parseRecordHead(await reader.fetch(offset, RECORD_HEAD_BYTES), offset, context.source.sizeBytes);
    if (!isEmpty && head.opcode === opcodes.message) return "messages";
    const isUnnamed = isEmpty ? mustBeIndexed.has(head.opcode) : head.opcode === opcodes.chunk;
    if (head.end > to || isUnnamed || left.records === 0) return "unnamed";
    offset = head.end;
  }
  return "nothing";
}

/** If more must be walked, a skim is as cheap. */
const MAX_WALKED_BYTES = 1024 * 1024;
const MAX_WALKED_RECORDS = 10_000;
const mustBeIndexed: ReadonlySet<number> = new Set([
  opcodes.message,
  opcodes.chunk,
  opcodes.attachment,
  opcodes.metadata,
]);

/** Whether what the indexes point at lies in the data section and does not overlap: no record begins before all earlier ones end. */
function lieApart(section: SummarySection, dataEnd: number): boolean {
  const { starts, ends } = edgesOf(section);
  return (
    starts.every((start, index) => start >= (ends[index - 1] ?? magic.byteLength)) && (ends.at(-1) ?? 0) <= dataEnd
  );
}

function addStatistics(survey: Survey, statistics: Statistics): void {
  for (const [channelId, messageCount] of statistics.messageCounts) addTally(survey, channelId, { messageCount });
  survey.chunkCount = statistics.chunkCount;
  if (statistics.messageCount === 0) return;
  survey.startNs = statistics.startNs;
  survey.endNs = statistics.endNs;
}

/** Answers false if an index points at something else than it says. */
async function addIndexedRecords(survey: Survey, section: SummarySection, context: ReadContext): Promise<boolean> {
  const reader = openWindowReader(context);
  Object.assign(survey, await readFirstRecord(reader, context));
  for (const span of section.metadata) {
    const head = await findRecord(span, opcodes.metadata, { reader, context });
    if (!head) return false;
    if (isLeftOut(head, context)) survey.leftOut.metadata += 1;
    else addMetadata(survey, readMetadata(await openRecord(head, reader, context)), context.limits);
  }
  for (const span of section.attachments) {
    const head = await findRecord(span, opcodes.attachment, { reader, context });
    if (!head) return false;
    const { attachment } = await readAttachment(head, reader, context);
    if (attachment) addAttachment(survey, attachment, context.limits);
    else survey.leftOut.attachments += 1;
  }
  return true;
}

async function readFirstRecord(
  reader: WindowReader,
  context: ReadContext,
): Promise<{ profile?: string; library?: string }> {
  const offset = magic.byteLength;
  const head = parseRecordHead(await reader.fetch(offset, RECORD_HEAD_BYTES), offset, context.source.sizeBytes);
  if (head.opcode !== opcodes.header)
    throw new RecordingError("BadRecord", "the file does not begin with a header record");
  return isLeftOut(head, context) ? {} : readHeader(await openRecord(head, reader, context));
}

async function findRecord(
  { offset, lengthBytes }: RecordSpan,
  opcode: number,
  { reader, context }: { reader: WindowReader; context: ReadContext },
): Promise<RecordHead | undefined> {
  const head = parseRecordHead(await reader.fetch(offset, RECORD_HEAD_BYTES), offset, context.source.sizeBytes);
  return head.opcode === opcode && head.end === offset + lengthBytes ? head : undefined;
}
