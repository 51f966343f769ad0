import { z } from "zod";
import { textsByKey } from "../shapes/any-keys.ts";
import { Sha256Hex } from "../shapes/digests.ts";
import { RecordingFormat } from "../shapes/recording-formats.ts";
import { areSpansOf, MAX_SPANS, SPANS_RULE } from "../shapes/spans.ts";
import { ByteCount } from "../shapes/summaries.ts";
import { FileKey, fileText } from "../shapes/text.ts";
import { Timestamp } from "../shapes/time.ts";

/** A random id, which the agent gives to each version of each file that it indexes. */
export const VersionId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{16,64}$/, "must be 16 to 64 letters, digits, and the characters _ -");

export const EdgeTopic = z.object({
  topic: fileText({ max: 1024 }),
  version: fileText({ max: 64 }),
  encoding: fileText(),
  schemaName: fileText(),
  schemaEncoding: fileText(),
  schemaSha256: Sha256Hex,
  messageCount: z.int().min(0),
  bytes: ByteCount.optional().meta({
    description: "About how many bytes of the file its messages take; absent if that is not known",
  }),
  start: Timestamp.optional(),
  end: Timestamp.optional(),
});
export type EdgeTopic = z.infer<typeof EdgeTopic>;

export const EdgeAttachment = z.object({
  name: fileText(),
  mediaType: fileText(),
  logTime: Timestamp,
  createTime: Timestamp,
  crc: z.int().min(0),
  dataOffset: ByteCount,
  size: ByteCount,
});

/**
 * The device to which a file belongs, as the file or its place says. Agents of edge sites send it, because they hold files of many devices.
 */
export const DeviceReference = z.object({
  id: fileText({ min: 1, max: 64 }).optional(),
  name: fileText({ min: 1, max: 200 }).optional(),
  projectId: fileText({ min: 1, max: 64 }).optional(),
});
export type DeviceReference = z.infer<typeof DeviceReference>;

const fileFacts = {
  versionId: VersionId,
  path: fileText({ min: 1, max: 4096 }).meta({ description: "Below the storage root, /-separated, no leading slash" }),
  size: ByteCount,
  modifiedAt: Timestamp,
  headTailSha256: Sha256Hex.meta({
    description: "SHA-256 of the first and the last 64 KiB, by which a row is recognized again; it is never a proof",
  }),
  device: DeviceReference.optional().meta({
    description: "From agents of edge sites only; else it is the token's device",
  }),
};

const EdgeMetadataRecord = z.object({ name: fileText(), metadata: textsByKey(fileText()) });

/** A finished recording with at least one message. */
export const EdgeRecordingItem = z
  .object({
    ...fileFacts,
    state: z.literal("indexed"),
    format: RecordingFormat,
    start: Timestamp.meta({ example: "2026-04-14T00:00:00Z" }),
    end: Timestamp.meta({ example: "2026-04-14T03:10:12Z" }),
    spans: z
      .array(z.object({ start: Timestamp, end: Timestamp }))
      .min(2)
      .max(MAX_SPANS)
      .optional()
      .meta({
        description: "When there are messages, if long gaps lie between them; absent: from start to end",
        example: [
          { start: "2026-04-14T00:00:00Z", end: "2026-04-14T00:01:00Z" },
          { start: "2026-04-14T03:00:12Z", end: "2026-04-14T03:10:12Z" },
        ],
      }),
    messageCount: z.int().min(1),
    key: FileKey.optional(),
    metadata: z.array(EdgeMetadataRecord),
    attachments: z.array(EdgeAttachment),
    topics: z
      .array(EdgeTopic)
      .refine(
        (topics) => new Set(topics.map(({ topic, version }) => `${topic}\0${version}`)).size === topics.length,
        "must name no topic twice in one version",
      ),
    reason: z
      .object({ code: fileText({ max: 64 }), text: fileText({ max: 1000 }) })
      .optional()
      .meta({ description: "Why some of its contents are not listed here; the file can still be imported whole" }),
    wantsImport: z.boolean().optional().meta({
      description: "It matches the device's auto-import globs: it is imported, unless its import was requested before",
    }),
  })
  .refine(({ start, end }) => end >= start && end - start < 2n ** 63n, {
    path: ["end"],
    error: "must not be before start, nor more than 292 years after it",
  })
  .refine(
    ({ spans, start, end }) => {
      const pairs = spans?.map((span) => [span.start, span.end] as const);
      return pairs === undefined || areSpansOf(pairs, [start, end]);
    },
    { path: ["spans"], error: SPANS_RULE },
  );

export type EdgeRecordingItem = z.infer<typeof EdgeRecordingItem>;

/** A file that is no importable recording, and why. */
export const EdgeOtherItem = z.object({
  ...fileFacts,
  state: z.enum(["settling", "incomplete", "damaged", "empty", "unassigned", "unreadable"]),
  reason: z.object({ code: fileText({ max: 64 }), text: fileText({ max: 1000 }) }).optional(),
  salvage: z.object({ start: Timestamp, end: Timestamp }).optional(),
});
export type EdgeOtherItem = z.infer<typeof EdgeOtherItem>;

export const EdgeItem = z.discriminatedUnion("state", [EdgeRecordingItem, EdgeOtherItem]);
export type EdgeItem = z.infer<typeof EdgeItem>;
