import { defaultLimits, type InspectLimits } from "../faults/limits.ts";
import { RecordingError } from "../faults/reasons.ts";
import {
  areAlikeChannels,
  areAlikeSchemas,
  areSameChannel,
  areSameSchema,
  type ChannelContent,
  keyOfChannel,
  keyOfSchema,
  type SchemaContent,
  sha256OfSchema,
} from "./alike.ts";
import { createSpanNotes, noteTally, type SpanNotes } from "./message-spans.ts";
import type { AttachmentSummary, MetadataRecord } from "./summary.ts";
import { type Definitions, isRepeat, noteTrust, type Trusting, trusts } from "./trust.ts";

export interface Schema extends SchemaContent {
  readonly id: number;
  /** SHA-256 of the data, hexadecimal. It is present if the data are too large to be held; `data` is then empty. */
  readonly sha256?: string;
}

export interface Channel extends ChannelContent {
  readonly id: number;
  /** 0 if the channel has no schema. */
  readonly schemaId: number;
}

/** The contents of the file beyond the limits, if the limits say that it is left out. */
export interface LeftOut {
  /** The ids of schemas that are left out. */
  readonly schemas: Set<number>;
  readonly channels: Set<number>;
  attachments: number;
  metadata: number;
  /** Chunks that were not looked into. */
  chunks: number;
  /** The messages of channels that are left out, and at least one for each chunk. */
  messageCount: number;
}

/** Count and span of the messages of one channel. The span is absent if only the count is known. */
export interface Tally {
  messageCount: number;
  startNs?: bigint;
  endNs?: bigint;
  /** When these messages and others beside them are. Absent if there is no long gap between them, or if that is not known. */
  parts?: SpanNotes | undefined;
}

/** The knowledge of a recording so far. It is filled step by step, so that it is also useful after an error. */
export interface Survey extends Trusting {
  profile?: string;
  library?: string;
  schemas: Map<number, Schema>;
  channels: Map<number, Channel>;
  readonly tallies: Map<number, Tally>;
  startNs?: bigint;
  endNs?: bigint;
  /** When the messages are. Nothing is noted if that is not known. */
  readonly spans: SpanNotes;
  readonly attachments: AttachmentSummary[];
  readonly metadata: MetadataRecord[];
  chunkCount: number;
  decompressedChunkCount: number;
  expandedBytes: number;
  /** The bytes of chunks that had to be decompressed, or should have been. */
  scannedBytes: number;
  heldBytes: number;
  readonly leftOut: LeftOut;
  /** Channels are taken also if their schema comes behind them, or is not in the file at all. */
  readonly mayLackSchemas: boolean;
  /** Some messages are covered by no checksum of their chunk. */
  hasUncheckedMessages: boolean;
  /** Messages stand outside of chunks, or may do so, where no index leads to them. */
  hasLooseMessages: boolean;
  /** Everything before this byte was understood. */
  readableBytes: number;
}

export function createSurvey({ mayLackSchemas = false } = {}): Survey {
  return {
    mayLackSchemas,
    schemas: new Map(),
    channels: new Map(),
    trust: trusts.proven,
    doubts: new WeakMap(),
    votes: new Map(),
    tallies: new Map(),
    spans: createSpanNotes(),
    attachments: [],
    metadata: [],
    chunkCount: 0,
    decompressedChunkCount: 0,
    expandedBytes: 0,
    scannedBytes: 0,
    heldBytes: 0,
    leftOut: { schemas: new Set(), channels: new Set(), attachments: 0, metadata: 0, chunks: 0, messageCount: 0 },
    hasUncheckedMessages: false,
    hasLooseMessages: false,
    readableBytes: 0,
  };
}

/** Files repeat schemas and channels. Only an equal schema may come again under the same id. spec: MCAP "Schema": 0 is no id. */
export function addSchema(survey: Survey, schema: Schema, limits: InspectLimits): void {
  if (schema.id === 0) return;
  const known = survey.schemas.get(schema.id);
  if (known && isRepeat(survey, repeatedSchema(known, schema))) return;
  if (survey.leftOut.schemas.has(schema.id)) return;
  const aboutBytes = schema.name.length + schema.encoding.length + RECORD_OVERHEAD_BYTES;
  if (hold(survey, schema.data.byteLength + aboutBytes, limits))
    setSchema(survey, { ...schema, data: new Uint8Array(schema.data) });
  else if (hold(survey, aboutBytes, limits))
    setSchema(survey, { ...schema, data: new Uint8Array(0), sha256: sha256OfSchema(schema) });
  else survey.leftOut.schemas.add(schema.id);
}

function setSchema(survey: Survey, schema: Schema): void {
  survey.schemas.set(schema.id, schema);
  noteTrust(survey, schema);
}

export function addChannel(survey: Survey, channel: Channel, limits: InspectLimits): void {
  const known = survey.channels.get(channel.id);
  if (known && isRepeat(survey, repeatedChannel(known, channel))) return;
  const { leftOut } = survey;
  if (leftOut.channels.has(channel.id)) return;
  const isTaken = survey.mayLackSchemas && !leftOut.schemas.has(channel.schemaId);
  const hasSchema = isTaken || holdsSchemaOf(survey, channel);
  if (!hasSchema && !leftOut.schemas.has(channel.schemaId)) {
    const text = `channel ${channel.id} ("${channel.topic}") names schema ${channel.schemaId}, which is not in the file`;
    throw new RecordingError("BadRecord", text);
  }
  const textLength = channel.topic.length + channel.messageEncoding.length;
  const bytes = textLength + sizeOfMap(channel.metadata) + RECORD_OVERHEAD_BYTES;
  const isOneMore = survey.channels.size < limits.maxChannels;
  if (!isOneMore && !limits.leavesOut) throw tooManyChannels(limits.maxChannels);
  if (isOneMore && hasSchema && hold(survey, bytes, limits)) {
    survey.channels.set(channel.id, channel);
    noteTrust(survey, channel);
  } else leaveOutChannel(survey, channel.id);
}

/** Whether the channel has no schema, or one that is known. */
export function holdsSchemaOf({ schemas }: Survey, { schemaId }: Channel): boolean {
  return schemaId === 0 || schemas.has(schemaId);
}

/** Only as many ids are kept as MCAP has, because a bag may name billions. */
export function leaveOutChannel(survey: Survey, id: number): void {
  const { channels } = survey.leftOut;
  if (channels.size >= mostChannels) throw tooManyChannels(mostChannels);
  if (!survey.channels.has(id)) channels.add(id);
}

/** The most channels that a file may have at all. */
export const mostChannels: number = defaultLimits.maxChannels;

export function hasChannel({ channels, leftOut }: Survey, id: number): boolean {
  return channels.has(id) || leftOut.channels.has(id);
}

export function tooManyChannels(most: number): RecordingError {
  return new RecordingError("TooManyChannels", `the file has more than ${most} channels`);
}

export function addMetadata(survey: Survey, record: MetadataRecord, limits: InspectLimits): void {
  const isOneMore = isOneMoreListed(survey.metadata.length, "metadata records", limits);
  const bytes = record.name.length + sizeOfMap(record.metadata) + RECORD_OVERHEAD_BYTES;
  if (isOneMore && hold(survey, bytes, limits)) survey.metadata.push(record);
  else survey.leftOut.metadata += 1;
}

export function addAttachment(survey: Survey, attachment: AttachmentSummary, limits: InspectLimits): void {
  const isOneMore = isOneMoreListed(survey.attachments.length, "attachments", limits);
  const bytes = attachment.name.length + attachment.mediaType.length + RECORD_OVERHEAD_BYTES;
  if (isOneMore && hold(survey, bytes, limits)) survey.attachments.push(attachment);
  else survey.leftOut.attachments += 1;
}

export function addTally(survey: Survey, channelId: number, tally: Tally): void {
  const sum: Tally = survey.leftOut.channels.has(channelId) ? survey.leftOut : tallyOf(survey, channelId);
  sum.messageCount += tally.messageCount;
  if (tally.startNs === undefined || tally.endNs === undefined) return;
  if (sum !== survey.leftOut) extendSpan(sum, tally.startNs, tally.endNs);
  extendSpan(survey, tally.startNs, tally.endNs);
  noteTally(survey.spans, tally);
}

/** Adds a time in which messages are. */
export function addSpan(survey: Survey, startNs: bigint, endNs: bigint): void {
  extendSpan(survey, startNs, endNs);
  survey.spans.note(startNs, endNs);
}

/**
 * Gives channels a span all of whose messages have times that count for none: that of the recording, or, if no message has a time that
 * counts, the last time that can be said. To be called when everything was read.
 */
export function settleSpans(survey: Survey, lastNs: bigint): void {
  for (const tally of survey.tallies.values()) {
    if (tally.startNs !== undefined || tally.messageCount === 0) continue;
    extendSpan(survey, survey.startNs ?? lastNs, survey.endNs ?? lastNs);
    extendSpan(tally, survey.startNs!, survey.endNs!);
  }
}

export function extendSpan(span: { startNs?: bigint; endNs?: bigint }, startNs: bigint, endNs: bigint): void {
  if (span.startNs === undefined || startNs < span.startNs) span.startNs = startNs;
  if (span.endNs === undefined || endNs > span.endNs) span.endNs = endNs;
}

export function countMessages(survey: Survey): number {
  let sum = survey.leftOut.messageCount;
  for (const tally of survey.tallies.values()) sum += tally.messageCount;
  return sum;
}

/** Counts a chunk. Throws if the chunks of the file decompress to implausibly much. */
export function addChunk(
  survey: Survey,
  uncompressedBytes: number,
  bounds: { sizeBytes: number; limits: InspectLimits },
): void {
  refuseMore(survey.chunkCount, "chunks", bounds.limits.maxChunks);
  survey.chunkCount += 1;
  survey.expandedBytes += uncompressedBytes;
  const most = EXPANSION_FLOOR_BYTES + bounds.sizeBytes * bounds.limits.maxExpansion;
  if (survey.expandedBytes <= most) return;
  throw new RecordingError(
    "ExpandsTooMuch",
    `the chunks decompress to more than ${most} bytes; the file looks made to exhaust its reader`,
  );
}

const EXPANSION_FLOOR_BYTES = 16 * 1024 ** 3;

/** The memory that a small record takes in addition to its bytes. */
const RECORD_OVERHEAD_BYTES = 100;

function tallyOf(survey: Survey, channelId: number): Tally {
  const known = survey.tallies.get(channelId);
  if (known) return known;
  const tally: Tally = { messageCount: 0 };
  survey.tallies.set(channelId, tally);
  return tally;
}

/** Answers false if the bytes are to be left out. */
function hold(survey: Survey, bytes: number, limits: InspectLimits): boolean {
  if (survey.heldBytes + bytes <= limits.maxHeldBytes) {
    survey.heldBytes += bytes;
    return true;
  }
  if (limits.leavesOut) return false;
  const text = `schemas, channels, attachments and metadata records together are larger than ${limits.maxHeldBytes} bytes`;
  throw new RecordingError("TooManyRecords", text);
}

function isOneMoreListed(count: number, what: string, { maxListedRecords, leavesOut }: InspectLimits): boolean {
  if (!leavesOut) refuseMore(count, what, maxListedRecords);
  return count < maxListedRecords;
}

/** To be called before a record of a kind that is listed is kept. */
export function refuseMore(count: number, what: string, most: number): void {
  if (count < most) return;
  throw new RecordingError("TooManyRecords", `the file has more than ${most} ${what}`);
}

function repeatedSchema(known: Schema, said: Schema): Definitions<Schema> {
  const id = `schema ${said.id}`;
  const compared = { areSame: areSameSchema, areAlike: areAlikeSchemas, keyOf: keyOfSchema };
  return { id, what: `${id} ("${said.name}")`, known, said, ...compared };
}

function repeatedChannel(known: Channel, said: Channel): Definitions<Channel> {
  const id = `channel ${said.id}`;
  const compared = { areSame: areSameChannel, areAlike: areAlikeChannels, keyOf: keyOfChannel };
  return { id, what: `${id} ("${said.topic}")`, known, said, ...compared };
}

function sizeOfMap(map: Record<string, string>): number {
  let sum = 0;
  for (const [key, value] of Object.entries(map)) sum += key.length + value.length + RECORD_OVERHEAD_BYTES;
  return sum;
}
