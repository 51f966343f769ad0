import { createHash } from "node:crypto";
import { defaultLimits, type InspectLimits } from "../faults/limits.ts";
import { DefinedTwiceError, RecordingError } from "../faults/reasons.ts";
import type { AttachmentSummary, MetadataRecord } from "./summary.ts";

export interface Schema {
  readonly id: number;
  readonly name: string;
  readonly encoding: string;
  readonly data: Uint8Array;
  /** SHA-256 of the data, hexadecimal. It is present if the data are too large to be held; `data` is then empty. */
  readonly sha256?: string;
}

export interface Channel {
  readonly id: number;
  /** 0 if the channel has no schema. */
  readonly schemaId: number;
  readonly topic: string;
  readonly messageEncoding: string;
  readonly metadata: Record<string, string>;
}

/** What is in the file but beyond the limits, if the limits say that it is left out. */
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
}

/** What is known of a recording so far. It is filled step by step, so that it is also useful after an error. */
export interface Survey {
  profile?: string;
  library?: string;
  schemas: Map<number, Schema>;
  channels: Map<number, Channel>;
  /** Schemas and channels that damage made the reader take from the summary: one that stands in the data counts instead. */
  readonly onlyRepeated: WeakSet<Schema | Channel>;
  readonly tallies: Map<number, Tally>;
  startNs?: bigint;
  endNs?: bigint;
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
  /** Everything before this byte was understood. */
  readableBytes: number;
}

export function createSurvey({ mayLackSchemas = false } = {}): Survey {
  return {
    mayLackSchemas,
    schemas: new Map(),
    channels: new Map(),
    onlyRepeated: new WeakSet(),
    tallies: new Map(),
    attachments: [],
    metadata: [],
    chunkCount: 0,
    decompressedChunkCount: 0,
    expandedBytes: 0,
    scannedBytes: 0,
    heldBytes: 0,
    leftOut: { schemas: new Set(), channels: new Set(), attachments: 0, metadata: 0, chunks: 0, messageCount: 0 },
    hasUncheckedMessages: false,
    readableBytes: 0,
  };
}

/** Files repeat schemas and channels. Only an equal schema may come again under the same id. spec: MCAP "Schema": 0 is no id. */
export function addSchema(survey: Survey, schema: Schema, limits: InspectLimits): void {
  if (schema.id === 0) return;
  const known = survey.schemas.get(schema.id);
  const what = `schema ${schema.id} ("${schema.name}")`;
  if (known && isRepeat(survey, { known, isSame: areSameSchema(known, schema), what })) return;
  if (survey.leftOut.schemas.has(schema.id)) return;
  const aboutBytes = schema.name.length + schema.encoding.length + RECORD_OVERHEAD_BYTES;
  if (hold(survey, schema.data.byteLength + aboutBytes, limits))
    survey.schemas.set(schema.id, { ...schema, data: new Uint8Array(schema.data) });
  else if (hold(survey, aboutBytes, limits))
    survey.schemas.set(schema.id, { ...schema, data: new Uint8Array(0), sha256: sha256OfSchema(schema) });
  else survey.leftOut.schemas.add(schema.id);
}

interface Known {
  readonly known: Schema | Channel;
  readonly isSame: boolean;
  readonly what: string;
}

/** Whether a definition says what is known. Throws if it says something else, unless only the summary has said what is known. */
function isRepeat({ onlyRepeated }: Survey, { known, isSame, what }: Known): boolean {
  if (!isSame && !onlyRepeated.has(known)) throw new DefinedTwiceError(what);
  if (isSame) onlyRepeated.delete(known);
  return isSame;
}

/** The hash of the data, also if the data are not held. */
export function sha256OfSchema({ data, sha256 }: Schema): string {
  return sha256 ?? createHash("sha256").update(data).digest("hex");
}

export function addChannel(survey: Survey, channel: Channel, limits: InspectLimits): void {
  const known = survey.channels.get(channel.id);
  const what = `channel ${channel.id} ("${channel.topic}")`;
  if (known && isRepeat(survey, { known, isSame: areSameChannel(known, channel), what })) return;
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
  if (isOneMore && hasSchema && hold(survey, bytes, limits)) survey.channels.set(channel.id, channel);
  else leaveOutChannel(survey, channel.id);
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

function areSameSchema(a: Schema, b: Schema): boolean {
  if (a.name !== b.name || a.encoding !== b.encoding) return false;
  return a.sha256 === undefined ? Buffer.compare(a.data, b.data) === 0 : a.sha256 === sha256OfSchema(b);
}

function areSameChannel(a: Channel, b: Channel): boolean {
  if (a.schemaId !== b.schemaId || a.topic !== b.topic || a.messageEncoding !== b.messageEncoding) return false;
  const keys = Object.keys(a.metadata);
  if (keys.length !== Object.keys(b.metadata).length) return false;
  return keys.every((key) => a.metadata[key] === b.metadata[key]);
}

function sizeOfMap(map: Record<string, string>): number {
  let sum = 0;
  for (const [key, value] of Object.entries(map)) sum += key.length + value.length + RECORD_OVERHEAD_BYTES;
  return sum;
}
