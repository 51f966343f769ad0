import { open } from "node:fs/promises";
import { zstdCompressSync } from "node:zlib";
import { McapWriter, type McapWriterOptions } from "@mcap/core";
import { compressFrameSync } from "lz4-napi";
import type { MetadataRecord } from "../survey/summary.ts";
import { demoTopics, makePayload, schemaOf, seededRandom, type TopicSpec } from "./sensors.ts";
import { ticksOf } from "./timeline.ts";

export interface McapSpec {
  /** Default: IMU 100 Hz, GPS 1 Hz, camera 10 Hz, logs 2 Hz. */
  readonly topics?: readonly TopicSpec[];
  /** The time of the first message. By default 2026-01-02T03:04:05Z. */
  readonly startNs?: bigint;
  /** By default 2. */
  readonly durationSeconds?: number;
  /** By default zstd. */
  readonly compression?: "" | "lz4" | "zstd";
  /** By default 256 KiB. */
  readonly chunkBytes?: number;
  /** False if messages stand outside of chunks. */
  readonly isChunked?: boolean;
  /** False if there is no summary section at all, only chunks. */
  readonly isIndexed?: boolean;
  /** Single features switched off or on, by the library's names. */
  readonly features?: Partial<McapWriterOptions>;
  readonly metadata?: readonly MetadataRecord[];
  readonly attachments?: readonly AttachmentSpec[];
  /** Messages come up to this much out of order. */
  readonly disorderNs?: bigint;
  readonly seed?: number;
  readonly profile?: string;
}

export interface AttachmentSpec {
  readonly name: string;
  readonly mediaType?: string;
  readonly data: Uint8Array;
  readonly logTimeNs?: bigint;
}

/** A recording written by an independent library. */
export async function makeMcap(spec: McapSpec = {}): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  await writeMcap(spec, async (bytes) => {
    pieces.push(new Uint8Array(bytes));
  });
  return new Uint8Array(Buffer.concat(pieces));
}

/** Writes such a recording straight to a file, for recordings larger than memory. */
export async function writeMcapFile(path: string, spec: McapSpec = {}): Promise<void> {
  await using file = await open(path, "w");
  await writeMcap(spec, async (bytes) => {
    await file.writeFile(bytes);
  });
}

async function writeMcap(spec: McapSpec, write: (bytes: Uint8Array) => Promise<void>): Promise<void> {
  const {
    topics = demoTopics,
    startNs = DEFAULT_START_NS,
    durationSeconds = 2,
    metadata = [],
    attachments = [],
  } = spec;
  let position = 0n;
  const writable = {
    position: () => position,
    async write(bytes: Uint8Array) {
      position += BigInt(bytes.byteLength);
      await write(bytes);
    },
  };
  const writer = new McapWriter({ writable, ...featuresOf(spec) });
  await writer.start({ profile: spec.profile ?? "", library: "downlink fixtures" });
  for (const { name, metadata: entries } of metadata) {
    await writer.addMetadata({ name, metadata: new Map(Object.entries(entries)) });
  }
  const channelIds = await registerTopics(writer, topics);
  const random = seededRandom(spec.seed ?? 1);
  for (const { topicIndex, sequence, timeNs } of ticksOf({
    rates: topics.map(({ rateHz }) => rateHz),
    startNs,
    durationSeconds,
  })) {
    const logTime = timeNs + disorderOf(spec, random);
    const data = makePayload(topics[topicIndex]!, { timeNs, sequence, random });
    await writer.addMessage({ channelId: channelIds[topicIndex]!, sequence, logTime, publishTime: timeNs, data });
  }
  for (const { name, mediaType = "application/octet-stream", data, logTimeNs = startNs } of attachments) {
    await writer.addAttachment({ name, mediaType, data, logTime: logTimeNs, createTime: logTimeNs });
  }
  await writer.end();
}

const DEFAULT_START_NS = 1_767_323_045_000_000_000n;

function disorderOf({ disorderNs = 0n }: McapSpec, random: () => number): bigint {
  return BigInt(Math.floor(random() * Number(disorderNs)));
}

async function registerTopics(writer: McapWriter, topics: readonly TopicSpec[]): Promise<number[]> {
  const ids: number[] = [];
  for (const { topic, kind } of topics) {
    const schema = schemaOf(kind);
    const schemaId = schema ? await writer.registerSchema(schema) : 0;
    const messageEncoding = schema ? "json" : "application/octet-stream";
    ids.push(await writer.registerChannel({ schemaId, topic, messageEncoding, metadata: new Map() }));
  }
  return ids;
}

function featuresOf(spec: McapSpec): Omit<McapWriterOptions, "writable"> {
  const { compression = "zstd", chunkBytes = 256 * 1024, isChunked = true, isIndexed = true, features } = spec;
  const summary = isIndexed ? {} : withoutSummary;
  const compressChunk = compression === "" ? undefined : compressWith(compression);
  return { useChunks: isChunked, chunkSize: chunkBytes, compressChunk, ...summary, ...features };
}

const withoutSummary = {
  useStatistics: false,
  useSummaryOffsets: false,
  repeatSchemas: false,
  repeatChannels: false,
  useAttachmentIndex: false,
  useMetadataIndex: false,
  useMessageIndex: false,
  useChunkIndex: false,
} as const;

export function compressWith(compression: "lz4" | "zstd") {
  return (bytes: Uint8Array) => {
    const copy = Buffer.from(bytes);
    const compressedData = compression === "zstd" ? zstdCompressSync(copy) : compressFrameSync(copy);
    return { compression, compressedData };
  };
}
