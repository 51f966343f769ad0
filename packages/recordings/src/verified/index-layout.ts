import type { RecordingDamage, RecordingFormatName } from "../survey/summary.ts";

/**
 * A verified index is what was found in a recording by reading every byte of it:
 *
 *     magic · pages of runs · lists of channels, schemas, attachments, metadata and damage · head · tail
 *
 * Pages and lists are zstd frames with checksums, each readable alone; the head is JSON in such a frame and says where they stand;
 * the tail says where the head stands. Numbers are little-endian; times are decimal texts of nanoseconds.
 */
export const indexMagic: Uint8Array = Buffer.from("DLINDEX\u0001", "latin1");

/** The tail holds where the head begins (8 bytes), its size (4), its size decompressed (4), and the magic again. */
export const TAIL_BYTES = 24;

/** Raised when older readers would read something wrong; they then make an index of their own. */
export const INDEX_VERSION = 1;

/** Where a zstd frame stands, its size, and its size decompressed. */
export type FramePlace = readonly [offset: number, bytes: number, sizeBytes: number];

export interface PagePlace {
  readonly at: FramePlace;
  readonly startNs: string;
  readonly endNs: string;
  readonly count: number;
}

export const listNames = ["channels", "schemas", "attachments", "metadata", "damage"] as const;
export type ListName = (typeof listNames)[number];

export interface IndexHead {
  readonly version: number;
  readonly format: RecordingFormatName;
  /** The size of the recording that was indexed. */
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly profile?: string;
  readonly library?: string;
  readonly messageCount: number;
  readonly compressions: readonly string[];
  readonly pages: readonly PagePlace[];
  readonly lists: Readonly<Record<ListName, readonly FramePlace[]>>;
  readonly damage?: RecordingDamage;
}

export interface ChannelLine {
  readonly id: number;
  readonly schemaId: number;
  readonly topic: string;
  readonly messageEncoding: string;
  readonly metadata: readonly (readonly [string, string])[];
  readonly messageCount: number;
  /** Absent if there is no message. */
  readonly startNs?: string;
  readonly endNs?: string;
}

export interface SchemaLine {
  readonly id: number;
  readonly name: string;
  readonly encoding: string;
  /** Where its data stand in the recording. It is absent if they stand in a compressed chunk only. */
  readonly at?: readonly [offset: number, lengthBytes: number];
  /** CRC-32 of the data that stand there. Older indexes have none. */
  readonly crc?: number;
  /** The data in base 64. */
  readonly data?: string;
}

export interface AttachmentLine {
  readonly name: string;
  readonly mediaType: string;
  readonly logTimeNs: string;
  readonly createTimeNs: string;
  readonly crc: number;
  readonly dataOffset: number;
  readonly sizeBytes: number;
  readonly dataSha256?: string;
}

export interface MetadataLine {
  readonly name: string;
  readonly metadata: readonly (readonly [string, string])[];
}

/** Something that cannot be read, or, for `times`, messages that were read and whose times cannot be true. */
export interface DamageLine {
  readonly kind: "chunk" | "attachment" | "summary" | "checksum" | "gap" | "untraced" | "times";
  /** Where the damage is in the recording. */
  readonly offset: number;
  readonly code: string;
  readonly text: string;
  /** The name of a damaged attachment. */
  readonly name?: string;
  readonly messagesLost?: number;
}
