import { z } from "zod";
import { agentToken, operation } from "./operation.ts";
import { RecordingKey } from "./recordings.ts";
import { queryInteger } from "./shapes/query.ts";
import { ByteCount } from "./shapes/summaries.ts";
import { StorableText } from "./shapes/text.ts";
import { Timestamp } from "./shapes/time.ts";

/**
 * What an agent and the cloud say to each other. Desired state, not messages: the agent says what it has, the cloud says the
 * full set of what it wants; both converge from any point. Every call but `hello` carries the lease in the header below.
 */
export const leaseHeader = "downlink-lease";

/** Limits that both sides hold. Bytes, seconds and counts. */
export const edgeLimits = {
  itemsPerReport: 500,
  bytesPerReport: 4 * 1024 * 1024,
  leaseSeconds: 60,
  longPollSeconds: 30,
  heartbeatSeconds: 30,
  minPartBytes: 16 * 1024 * 1024,
  maxParts: 9000,
} as const;

const Sha256Hex = z.string().regex(/^[0-9a-f]{64}$/, "expected 64 lower-case hexadecimal digits");
const Md5Base64 = z.string().regex(/^[A-Za-z0-9+/]{22}==$/, "expected the base 64 of an MD5");
/** Given by the agent to each version of each file it indexes; random. */
export const VersionId = z.string().regex(/^[A-Za-z0-9_-]{16,64}$/);

export const EdgeTopic = z.object({
  topic: StorableText.max(1024),
  version: StorableText.max(64),
  encoding: StorableText,
  schemaName: StorableText,
  schemaEncoding: StorableText,
  schemaSha256: Sha256Hex,
  messageCount: z.int().min(0),
  start: Timestamp.optional(),
  end: Timestamp.optional(),
});
export type EdgeTopic = z.infer<typeof EdgeTopic>;

export const EdgeAttachment = z.object({
  name: StorableText,
  mediaType: StorableText,
  logTime: Timestamp,
  createTime: Timestamp,
  crc: z.int().min(0),
  dataOffset: ByteCount,
  size: ByteCount,
});

const fileFacts = {
  versionId: VersionId,
  path: StorableText.min(1).max(4096).meta({ description: "Below the storage root, /-separated, no leading slash" }),
  size: ByteCount,
  modifiedAt: Timestamp,
  headTailSha256: Sha256Hex.meta({
    description: "Of the first and the last 64 KiB: to recognize a row again, never a proof",
  }),
};

const EdgeMetadataRecord = z.object({ name: StorableText, metadata: z.record(StorableText, StorableText) });

/** A finished recording with at least one message. */
export const EdgeRecordingItem = z
  .object({
    ...fileFacts,
    state: z.literal("indexed"),
    format: z.enum(["mcap", "bag1"]),
    start: Timestamp,
    end: Timestamp,
    messageCount: z.int().min(1),
    key: RecordingKey.optional(),
    metadata: z.array(EdgeMetadataRecord),
    attachments: z.array(EdgeAttachment),
    topics: z
      .array(EdgeTopic)
      .refine(
        (topics) => new Set(topics.map(({ topic, version }) => `${topic}\0${version}`)).size === topics.length,
        "must name no topic twice in one version",
      ),
  })
  .refine(({ start, end }) => end >= start && end - start < 2n ** 63n, {
    path: ["end"],
    error: "must not be before start, nor more than 292 years after it",
  });
export type EdgeRecordingItem = z.infer<typeof EdgeRecordingItem>;

/** A file that is no importable recording, and why. */
export const EdgeOtherItem = z.object({
  ...fileFacts,
  state: z.enum(["settling", "incomplete", "damaged", "empty", "unassigned", "unreadable"]),
  reason: z.object({ code: StorableText.max(64), text: StorableText.max(1000) }).optional(),
  salvage: z.object({ start: Timestamp, end: Timestamp }).optional(),
});
export type EdgeOtherItem = z.infer<typeof EdgeOtherItem>;

export const EdgeItem = z.discriminatedUnion("state", [EdgeRecordingItem, EdgeOtherItem]);
export type EdgeItem = z.infer<typeof EdgeItem>;

export const EdgeSettings = z.object({
  enabled: z.boolean(),
  retainRecordingsSeconds: z.int().min(0),
  autoDeleteAfterImport: z.boolean(),
});
export type EdgeSettings = z.infer<typeof EdgeSettings>;

/**
 * One import request, until the agent has acknowledged how it ended.
 * `deliver`: upload the file · `processing`: the bytes are here · `imported`, `failed`: how it ended; acknowledge it in the next report.
 */
export const WantedImport = z.object({
  requestId: z.string(),
  recordingId: z.string(),
  versionId: VersionId,
  stage: z.enum(["deliver", "processing", "imported", "failed"]),
  priority: z.int(),
  requestedAt: Timestamp,
  reason: z.object({ code: z.string(), text: z.string() }).optional(),
});
export type WantedImport = z.infer<typeof WantedImport>;

export const EdgeWork = z.object({ imports: z.array(WantedImport), settings: EdgeSettings });
export type EdgeWork = z.infer<typeof EdgeWork>;

/** Reasons for which an agent gives a file up. A closed list: anything else is the agent's trouble and is tried again. */
export const DeliveryFailure = z.enum(["FileGone", "FileChanged", "FileUnreadable"]);
export type DeliveryFailure = z.infer<typeof DeliveryFailure>;

const partNumber = z.int().min(1).max(10_000);
const requestParams = z.object({ requestId: z.string() });
const uploadParams = z.object({ requestId: z.string(), uploadId: z.string() });

export const edge = {
  hello: operation({
    method: "post",
    path: "/v1/edge/hello",
    access: agentToken(),
    summary: "Introduce this agent process and take or renew the lease",
    body: z.object({
      agentVersion: z.string().max(64),
      instanceId: z.string().min(16).max(64).meta({ description: "Random, made anew by each process" }),
      machineId: z.string().min(1).max(128),
      host: z.object({ hostname: z.string().max(255), platform: z.string().max(64), arch: z.string().max(64) }),
      lease: z.int().min(1).optional().meta({ description: "The last lease this state directory held" }),
      inventory: z.object({ count: z.int().min(0), digest: Sha256Hex }),
      clock: Timestamp,
    }),
    response: z.object({
      orgId: z.string(),
      projectId: z.string(),
      device: z.object({ id: z.string(), name: z.string() }),
      settings: EdgeSettings,
      serverTime: Timestamp,
      incarnation: z.string().meta({ description: "New after the cloud was restored from a backup" }),
      lease: z.int().min(1),
      isInventoryKnown: z.boolean().meta({ description: "False: send a complete listing" }),
    }),
  }),
  report: operation({
    method: "post",
    path: "/v1/edge/recordings",
    access: agentToken(),
    summary: "Report files: upserts and removals by version; repeats are harmless",
    description:
      "Reports take effect in the order of their `sequence`; one that arrives after a later one is refused with `ReportSuperseded` and changes nothing. Schemas that the answer names as unknown are sent once with the next report. A complete listing is a run of reports with one `listing.id`; only after its `last` one does absence count.",
    body: z.object({
      sequence: z.int().min(1).meta({
        description: "Rises with every report of one lease; only a repeat of the same report may carry it again",
      }),
      upserts: z.array(EdgeItem).max(edgeLimits.itemsPerReport),
      removals: z.array(VersionId).max(edgeLimits.itemsPerReport).default([]),
      acknowledgements: z
        .array(z.string())
        .max(edgeLimits.itemsPerReport)
        .default([])
        .meta({ description: "Ids of ended import requests" }),
      schemas: z.array(z.object({ sha256: Sha256Hex, data: z.base64() })).default([]),
      listing: z
        .object({ id: z.string().min(8).max(64), isLast: z.boolean(), count: z.int().min(0).optional() })
        .optional()
        .meta({ description: "`count`, on the last one: how many files the whole listing names" }),
    }),
    response: z.object({
      unknownSchemas: z.array(Sha256Hex),
      isListingComplete: z
        .boolean()
        .optional()
        .meta({ description: "On the last of a listing: false asks for the listing anew" }),
    }),
  }),
  work: operation({
    method: "get",
    path: "/v1/edge/work",
    access: agentToken(),
    summary: "The whole set of what the cloud wants from this agent, by long poll",
    description: "Answers at once when it differs from what `etag` names, else after `wait` seconds with the same set.",
    query: z.object({
      wait: queryInteger({ min: 0, max: edgeLimits.longPollSeconds }).default(0),
      etag: z.string().max(128).optional(),
    }),
    response: z.object({ etag: z.string(), work: EdgeWork }),
  }),
  openUpload: operation({
    method: "post",
    path: "/v1/edge/imports/{requestId}/upload",
    access: agentToken(),
    summary: "Open or reopen the upload of one file version",
    params: requestParams,
    body: z.object({ versionId: VersionId, size: ByteCount, modifiedAt: Timestamp }),
    response: z.object({
      uploadId: z.string(),
      partSize: z.int().min(1),
      isStored: z.boolean().meta({ description: "Every byte is here already: nothing more to send" }),
      parts: z
        .array(z.object({ number: partNumber, md5: Md5Base64, length: ByteCount }))
        .meta({ description: "Durable parts" }),
    }),
  }),
  grantParts: operation({
    method: "post",
    path: "/v1/edge/imports/{requestId}/upload/{uploadId}/grants",
    access: agentToken(),
    summary: "Ask for a signed target for each part",
    params: uploadParams,
    body: z.object({
      parts: z
        .array(z.object({ number: partNumber, md5: Md5Base64, length: z.int().min(1) }))
        .min(1)
        .max(100),
    }),
    response: z.object({
      grants: z.array(z.object({ number: partNumber, url: z.string(), headers: z.record(z.string(), z.string()) })),
    }),
  }),
  completeUpload: operation({
    method: "post",
    path: "/v1/edge/imports/{requestId}/upload/{uploadId}/complete",
    access: agentToken(),
    summary: "Say that every part was sent; repeatable",
    params: uploadParams,
    body: z.object({
      parts: z.array(z.object({ number: partNumber, md5: Md5Base64, etag: z.string().optional() })).max(10_000),
      sha256: Sha256Hex,
    }),
    response: z.object({ recordingId: z.string() }),
  }),
  failImport: operation({
    method: "post",
    path: "/v1/edge/imports/{requestId}/failed",
    access: agentToken(),
    summary: "Say that the file cannot be delivered, with a coded reason",
    params: requestParams,
    body: z.object({ versionId: VersionId, code: DeliveryFailure, text: z.string().max(1000) }),
    response: z.object({ recordingId: z.string() }),
  }),
  status: operation({
    method: "post",
    path: "/v1/edge/status",
    access: agentToken(),
    summary: "Heartbeat with counters; at most every 30 seconds",
    body: z.object({
      files: z.record(z.string(), z.int().min(0)).meta({ description: "Count of files by state" }),
      disk: z.object({ totalBytes: ByteCount, freeBytes: ByteCount }).optional(),
      problems: z.array(z.object({ code: z.string().max(64), text: z.string().max(1000), since: Timestamp })).max(20),
    }),
    response: z.object({ serverTime: Timestamp }),
  }),
};
