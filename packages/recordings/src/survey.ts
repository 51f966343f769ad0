import type { InspectLimits } from "./limits.ts";
import { RecordingFault } from "./reasons.ts";
import type { AttachmentSummary, MetadataRecord } from "./summary.ts";

export interface Schema {
  id: number;
  name: string;
  encoding: string;
  data: Uint8Array;
}

export interface Channel {
  id: number;
  /** 0: without a schema. */
  schemaId: number;
  topic: string;
  messageEncoding: string;
  metadata: Record<string, string>;
}

/** Count and span of the messages of one channel. Without times: counted, but the times were not told. */
export interface Tally {
  messageCount: number;
  startNs?: bigint;
  endNs?: bigint;
}

/** What is known of a recording so far. Filled step by step, so that it is worth something after a fault too. */
export interface Survey {
  profile?: string;
  library?: string;
  schemas: Map<number, Schema>;
  channels: Map<number, Channel>;
  tallies: Map<number, Tally>;
  startNs?: bigint;
  endNs?: bigint;
  attachments: AttachmentSummary[];
  metadata: MetadataRecord[];
  chunkCount: number;
  decompressedChunkCount: number;
  expandedBytes: number;
  heldBytes: number;
  /** Some messages are covered by no checksum of their chunk. */
  hasUncheckedMessages: boolean;
  /** Everything before this byte was understood. */
  readableBytes: number;
}

export function createSurvey(): Survey {
  return {
    schemas: new Map(),
    channels: new Map(),
    tallies: new Map(),
    attachments: [],
    metadata: [],
    chunkCount: 0,
    decompressedChunkCount: 0,
    expandedBytes: 0,
    heldBytes: 0,
    hasUncheckedMessages: false,
    readableBytes: 0,
  };
}

/** Files repeat schemas and channels; only an equal one may come again under the same id. spec: MCAP "Schema": 0 is no id. */
export function addSchema(survey: Survey, schema: Schema, limits: InspectLimits): void {
  if (schema.id === 0) return;
  const known = survey.schemas.get(schema.id);
  if (known) {
    if (areSameSchema(known, schema)) return;
    throw new RecordingFault("BadRecord", `schema ${schema.id} ("${schema.name}") is defined twice, differently`);
  }
  const textLength = schema.name.length + schema.encoding.length;
  hold(survey, schema.data.byteLength + textLength + recordOverheadBytes, limits);
  survey.schemas.set(schema.id, { ...schema, data: new Uint8Array(schema.data) });
}

export function addChannel(survey: Survey, channel: Channel, limits: InspectLimits): void {
  const known = survey.channels.get(channel.id);
  if (known) {
    if (areSameChannel(known, channel)) return;
    throw new RecordingFault("BadRecord", `channel ${channel.id} ("${channel.topic}") is defined twice, differently`);
  }
  if (channel.schemaId !== 0 && !survey.schemas.has(channel.schemaId)) {
    const text = `channel ${channel.id} ("${channel.topic}") names schema ${channel.schemaId}, which is not in the file`;
    throw new RecordingFault("BadRecord", text);
  }
  if (survey.channels.size >= limits.maxChannels) throw tooManyChannels(limits);
  const textLength = channel.topic.length + channel.messageEncoding.length;
  hold(survey, textLength + sizeOfMap(channel.metadata) + recordOverheadBytes, limits);
  survey.channels.set(channel.id, channel);
}

export function tooManyChannels({ maxChannels }: InspectLimits): RecordingFault {
  return new RecordingFault("TooManyChannels", `the file has more than ${maxChannels} channels`);
}

export function addMetadata(survey: Survey, record: MetadataRecord, limits: InspectLimits): void {
  refuseMore(survey.metadata.length, "metadata records", limits);
  hold(survey, record.name.length + sizeOfMap(record.metadata) + recordOverheadBytes, limits);
  survey.metadata.push(record);
}

export function addAttachment(survey: Survey, attachment: AttachmentSummary, limits: InspectLimits): void {
  refuseMore(survey.attachments.length, "attachments", limits);
  hold(survey, attachment.name.length + attachment.mediaType.length + recordOverheadBytes, limits);
  survey.attachments.push(attachment);
}

export function addTally(survey: Survey, channelId: number, tally: Tally): void {
  const sum = tallyOf(survey, channelId);
  sum.messageCount += tally.messageCount;
  if (tally.startNs === undefined || tally.endNs === undefined) return;
  extendSpan(sum, tally.startNs, tally.endNs);
  extendSpan(survey, tally.startNs, tally.endNs);
}

export function extendSpan(span: { startNs?: bigint; endNs?: bigint }, startNs: bigint, endNs: bigint): void {
  if (span.startNs === undefined || startNs < span.startNs) span.startNs = startNs;
  if (span.endNs === undefined || endNs > span.endNs) span.endNs = endNs;
}

export function countMessages(survey: Survey): number {
  let sum = 0;
  for (const tally of survey.tallies.values()) sum += tally.messageCount;
  return sum;
}

/** Counts a chunk, and refuses the file when its chunks decompress to implausibly much. */
export function addChunk(
  survey: Survey,
  uncompressedBytes: number,
  bounds: { sizeBytes: number; limits: InspectLimits },
): void {
  refuseMore(survey.chunkCount, "chunks", bounds.limits);
  survey.chunkCount += 1;
  survey.expandedBytes += uncompressedBytes;
  const most = expansionFloorBytes + bounds.sizeBytes * bounds.limits.maxExpansion;
  if (survey.expandedBytes <= most) return;
  throw new RecordingFault(
    "ExpandsTooMuch",
    `the chunks decompress to more than ${most} bytes; the file looks made to exhaust its reader`,
  );
}

const expansionFloorBytes = 16 * 1024 ** 3;

/** What a small record costs in memory besides its bytes. */
const recordOverheadBytes = 100;

function tallyOf(survey: Survey, channelId: number): Tally {
  const known = survey.tallies.get(channelId);
  if (known) return known;
  const tally: Tally = { messageCount: 0 };
  survey.tallies.set(channelId, tally);
  return tally;
}

function hold(survey: Survey, bytes: number, limits: InspectLimits): void {
  survey.heldBytes += bytes;
  if (survey.heldBytes <= limits.maxHeldBytes) return;
  const text = `schemas, channels, attachments and metadata records together are larger than ${limits.maxHeldBytes} bytes`;
  throw new RecordingFault("TooManyRecords", text);
}

/** Call before a record of a kind that is listed is kept. */
export function refuseMore(count: number, what: string, limits: InspectLimits): void {
  if (count < limits.maxListedRecords) return;
  throw new RecordingFault("TooManyRecords", `the file has more than ${limits.maxListedRecords} ${what}`);
}

function areSameSchema(a: Schema, b: Schema): boolean {
  return a.name === b.name && a.encoding === b.encoding && Buffer.compare(a.data, b.data) === 0;
}

function areSameChannel(a: Channel, b: Channel): boolean {
  if (a.schemaId !== b.schemaId || a.topic !== b.topic || a.messageEncoding !== b.messageEncoding) return false;
  const keys = Object.keys(a.metadata);
  if (keys.length !== Object.keys(b.metadata).length) return false;
  return keys.every((key) => a.metadata[key] === b.metadata[key]);
}

function sizeOfMap(map: Record<string, string>): number {
  let sum = 0;
  for (const [key, value] of Object.entries(map)) sum += key.length + value.length + recordOverheadBytes;
  return sum;
}
