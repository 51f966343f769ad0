import type { Reason } from "../faults/reasons.ts";

export type RecordingFormatName = "mcap" | "bag1";

/** When a topic's messages came. */
export interface TopicActivity {
  /** Between two messages that follow each other. Absent for less than two, for several channels, and where they are not in order of log time. */
  readonly maxGapNs?: bigint;
  /** Of 256 equal parts of the recording's time: 0 without a message, 255 where most of them came. Absent beyond 2048 channels. */
  readonly activity?: Uint8Array;
}

/** One topic in one version of its schema; channels that agree in both are summed. */
export interface TopicSummary extends TopicActivity {
  readonly topic: string;
  readonly messageEncoding: string;
  readonly schemaName: string;
  readonly schemaEncoding: string;
  readonly schema: Uint8Array;
  /** SHA-256 of the schema's bytes, hexadecimal. */
  readonly schemaSha256: string;
  /** The schema is too large to be held: `schema` is empty. */
  readonly isSchemaLeftOut?: boolean;
  /** Stable id of encoding, schema name, schema encoding and schema bytes: 16 hexadecimal digits. */
  readonly version: string;
  messageCount: number;
  /**
   * The same for two recordings where the topic has, in this version, the same channels with messages: their metadata may differ. Present where
   * every message was read.
   */
  channelsKey?: string;
  /** First and last log time, where the file told them without reading its messages. */
  readonly startNs?: bigint;
  readonly endNs?: bigint;
}

export interface AttachmentSummary {
  readonly name: string;
  readonly mediaType: string;
  readonly logTimeNs: bigint;
  readonly createTimeNs: bigint;
  /** CRC-32 of the record's fields; 0 when the writer gave none. */
  crc: number;
  /** Where the attachment's data begin in the file. */
  readonly dataOffset: number;
  readonly sizeBytes: number;
  /** SHA-256 of the data, hexadecimal; present where they were read, that is with `verifyChunks`. */
  dataSha256?: string;
}

export interface MetadataRecord {
  readonly name: string;
  readonly metadata: Record<string, string>;
}

/** Who recorded it and as what, by the last metadata record named `downlink` or `foxglove`. */
export interface RecordingIdentity {
  readonly deviceId?: string;
  readonly deviceName?: string;
  readonly projectId?: string;
  readonly key?: string;
  readonly sessionKey?: string;
}

/** What of a recording cannot be read, though it can be given without. */
export interface RecordingDamage {
  readonly chunksLost: number;
  /** Known to be in what was lost; more may be where `isCountKnown` is false. */
  readonly messagesLost: number;
  readonly isCountKnown: boolean;
  readonly attachmentsLost: number;
  /** Of chunks that cannot be read, and of what makes no sense. */
  readonly bytesLost: number;
  /** The first ten. */
  readonly reasons: Reason[];
}

/** What is in a recording, and not in its summary, because it is beyond the limits. */
export interface LeftOutCounts {
  readonly channels: number;
  readonly attachments: number;
  readonly metadata: number;
  /** Not looked into: `messageCount` is then the least that there can be, and the span what their heads say. */
  readonly chunks: number;
}

export interface RecordingSummary {
  readonly format: RecordingFormatName;
  readonly sizeBytes: number;
  readonly messageCount: number;
  /** First and last log time; absent without a message. */
  readonly startNs?: bigint;
  readonly endNs?: bigint;
  readonly topics: TopicSummary[];
  readonly attachments: AttachmentSummary[];
  readonly metadata: MetadataRecord[];
  readonly identity: RecordingIdentity;
  /** `index`: the summary proved complete; `skim`: record headers and message indexes; `scan`: every chunk read. */
  readonly method: "index" | "skim" | "scan";
  readonly profile?: string;
  readonly library?: string;
  /** Absent: nothing was found to be damaged. */
  damage?: RecordingDamage;
  /** Absent: all is listed. */
  readonly leftOut?: LeftOutCounts;
}

/** What could still be read of a recording that is not whole. Times and counts as far as they are told without reading messages. */
export interface Salvage {
  readonly startNs?: bigint;
  readonly endNs?: bigint;
  readonly messageCount: number;
  readonly topics: string[];
  readonly readableBytes: number;
  readonly lostBytes: number;
  readonly identity: RecordingIdentity;
}

export type Inspection =
  | { readonly state: "finished"; readonly summary: RecordingSummary }
  | { readonly state: "empty"; readonly summary: RecordingSummary }
  | { readonly state: "incomplete"; readonly reason: Reason; readonly salvage?: Salvage }
  | { readonly state: "damaged"; readonly reason: Reason; readonly salvage?: Salvage }
  | { readonly state: "unsupported"; readonly reason: Reason };
