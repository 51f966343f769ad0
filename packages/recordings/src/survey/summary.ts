import type { Reason } from "../faults/reasons.ts";

export type RecordingFormatName = "mcap" | "bag1";

/** When a topic's messages came. */
export interface TopicActivity {
  /** Between two messages that follow each other. Absent for less than two, for several channels, and where they are not in order of log time. */
  maxGapNs?: bigint;
  /** Of 256 equal parts of the recording's time: 0 without a message, 255 where most of them came. Absent beyond 2048 channels. */
  activity?: Uint8Array;
}

/** One topic in one version of its schema; channels that agree in both are summed. */
export interface TopicSummary extends TopicActivity {
  topic: string;
  messageEncoding: string;
  schemaName: string;
  schemaEncoding: string;
  schema: Uint8Array;
  /** SHA-256 of the schema's bytes, hexadecimal. */
  schemaSha256: string;
  /** The schema is too large to be held: `schema` is empty. */
  isSchemaLeftOut?: boolean;
  /** Stable id of encoding, schema name, schema encoding and schema bytes: 16 hexadecimal digits. */
  version: string;
  messageCount: number;
  /**
   * The same for two recordings where the topic has, in this version, the same channels with messages: their metadata may differ. Present where
   * every message was read.
   */
  channelsKey?: string;
  /** First and last log time, where the file told them without reading its messages. */
  startNs?: bigint;
  endNs?: bigint;
}

export interface AttachmentSummary {
  name: string;
  mediaType: string;
  logTimeNs: bigint;
  createTimeNs: bigint;
  /** CRC-32 of the record's fields; 0 when the writer gave none. */
  crc: number;
  /** Where the attachment's data begin in the file. */
  dataOffset: number;
  sizeBytes: number;
  /** SHA-256 of the data, hexadecimal; present where they were read, that is with `verifyChunks`. */
  dataSha256?: string;
}

export interface MetadataRecord {
  name: string;
  metadata: Record<string, string>;
}

/** Who recorded it and as what, by the last metadata record named `downlink` or `foxglove`. */
export interface RecordingIdentity {
  deviceId?: string;
  deviceName?: string;
  projectId?: string;
  key?: string;
  sessionKey?: string;
}

/** What of a recording cannot be read, though it can be given without. */
export interface RecordingDamage {
  chunksLost: number;
  /** Known to be in what was lost; more may be where `isCountKnown` is false. */
  messagesLost: number;
  isCountKnown: boolean;
  attachmentsLost: number;
  /** Of chunks that cannot be read, and of what makes no sense. */
  bytesLost: number;
  /** The first ten. */
  reasons: Reason[];
}

/** What is in a recording, and not in its summary, because it is beyond the limits. */
export interface LeftOutCounts {
  channels: number;
  attachments: number;
  metadata: number;
  /** Not looked into: `messageCount` is then the least that there can be, and the span what their heads say. */
  chunks: number;
}

export interface RecordingSummary {
  format: RecordingFormatName;
  sizeBytes: number;
  messageCount: number;
  /** First and last log time; absent without a message. */
  startNs?: bigint;
  endNs?: bigint;
  topics: TopicSummary[];
  attachments: AttachmentSummary[];
  metadata: MetadataRecord[];
  identity: RecordingIdentity;
  /** `index`: the summary proved complete; `skim`: record headers and message indexes; `scan`: every chunk read. */
  method: "index" | "skim" | "scan";
  profile?: string;
  library?: string;
  /** Absent: nothing was found to be damaged. */
  damage?: RecordingDamage;
  /** Absent: all is listed. */
  leftOut?: LeftOutCounts;
}

/** What could still be read of a recording that is not whole. Times and counts as far as they are told without reading messages. */
export interface Salvage {
  startNs?: bigint;
  endNs?: bigint;
  messageCount: number;
  topics: string[];
  readableBytes: number;
  lostBytes: number;
  identity: RecordingIdentity;
}

export type Inspection =
  | { state: "finished"; summary: RecordingSummary }
  | { state: "empty"; summary: RecordingSummary }
  | { state: "incomplete"; reason: Reason; salvage?: Salvage }
  | { state: "damaged"; reason: Reason; salvage?: Salvage }
  | { state: "unsupported"; reason: Reason };
