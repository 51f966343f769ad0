import type { Reason } from "../faults/reasons.ts";
import type { MessageSpan } from "./message-spans.ts";

export type RecordingFormatName = "mcap" | "bag1";

/** When a topic's messages came. */
export interface TopicActivity {
  /**
   * The longest time between two messages that follow each other. It is absent for fewer than two messages, for several channels, and for
   * messages that are not in order of log time.
   */
  readonly maxGapNs?: bigint;
  /**
   * One value for each of 256 equal parts of the recording's time: 0 for a part without a message, 255 for the part with the most messages.
   * It is absent in a recording with more than 2048 channels.
   */
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
   * A text that is equal in two recordings if the topic has the same channels with messages in this version; channels differ by their
   * metadata. It is present if every message was read.
   */
  channelsKey?: string;
  /** First and last log time, if they were known without reading the messages. */
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
  /** SHA-256 of the data, hexadecimal. It is present if the data were read, that is with `verifyChunks`. */
  dataSha256?: string;
}

export interface MetadataRecord {
  readonly name: string;
  readonly metadata: Record<string, string>;
}

/** The recorder and the key of a recording, by the last metadata record named `downlink` or `foxglove`. */
export interface RecordingIdentity {
  readonly deviceId?: string;
  readonly deviceName?: string;
  readonly projectId?: string;
  readonly key?: string;
  readonly sessionKey?: string;
}

/** The parts of a recording that cannot be read, while the rest can. */
export interface RecordingDamage {
  readonly chunksLost: number;
  /** The messages that are known to be lost. There may be more if `isCountKnown` is false. */
  readonly messagesLost: number;
  readonly isCountKnown: boolean;
  readonly attachmentsLost: number;
  /** The bytes of chunks that cannot be read and of places that make no sense. */
  readonly bytesLost: number;
  /**
   * Messages that were taken out of chunks that are not whole, because their heads make sense. They are not lost, and nothing proves them.
   * Absent if there are none.
   */
  readonly messagesGuessed?: number;
  /**
   * Messages whose times contradict the head and the indexes of their chunk, or lie beyond the year 2262. They are not lost; the recording's
   * span is without them. Absent if there are none.
   */
  readonly messagesDoubted?: number;
  /** The first ten reasons. */
  readonly reasons: Reason[];
}

/** The contents of a recording that were left out of its summary, because it is beyond the limits. */
export interface LeftOutCounts {
  readonly channels: number;
  readonly attachments: number;
  readonly metadata: number;
  /**
   * Chunks that were not decompressed. `messageCount` is then the least that there can be, and the span is the one that the heads of these
   * chunks give.
   */
  readonly chunks: number;
}

export interface RecordingSummary {
  readonly format: RecordingFormatName;
  readonly sizeBytes: number;
  readonly messageCount: number;
  /** First and last log time; absent if there is no message. */
  readonly startNs?: bigint;
  readonly endNs?: bigint;
  /**
   * When the messages are, if there are long gaps between them: from 2 to 64 spans, sorted and disjoint, the first of which begins at `startNs`
   * and the last of which ends at `endNs`. Absent if there is one span, or if it is not known.
   */
  readonly spans?: readonly MessageSpan[];
  readonly topics: TopicSummary[];
  readonly attachments: AttachmentSummary[];
  readonly metadata: MetadataRecord[];
  readonly identity: RecordingIdentity;
  /** `index`: the summary proved complete; `skim`: record headers and message indexes; `scan`: every chunk read. */
  readonly method: "index" | "skim" | "scan";
  readonly profile?: string;
  readonly library?: string;
  /** Absent if no damage was found. */
  damage?: RecordingDamage;
  /** Absent if everything is listed. */
  readonly leftOut?: LeftOutCounts;
}

/**
 * The part of a recording that is not whole which could still be read, with times and counts as far as they are known without reading
 * messages.
 */
export interface Salvage {
  readonly startNs?: bigint;
  readonly endNs?: bigint;
  readonly messageCount: number;
  readonly topics: string[];
  readonly readableBytes: number;
  readonly lostBytes: number;
  /** The losses, as far as they are known. It is absent if nothing is known to be lost. */
  readonly damage?: RecordingDamage;
  readonly identity: RecordingIdentity;
}

export type Inspection =
  | { readonly state: "finished"; readonly summary: RecordingSummary }
  | { readonly state: "empty"; readonly summary: RecordingSummary }
  | { readonly state: "incomplete"; readonly reason: Reason; readonly salvage?: Salvage }
  | { readonly state: "damaged"; readonly reason: Reason; readonly salvage?: Salvage }
  | { readonly state: "unsupported"; readonly reason: Reason };
