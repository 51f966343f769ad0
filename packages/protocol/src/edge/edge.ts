import { z } from "zod";
import { agentToken, enrolmentToken, operation } from "../operations/operation.ts";
import { DeviceName } from "../resources/devices.ts";
import { AgentStatus } from "../resources/edge-agents.ts";
import { ImportStatus } from "../resources/recordings.ts";
import { Credential } from "../shapes/credentials.ts";
import { queryInteger } from "../shapes/query.ts";
import { ByteCount } from "../shapes/summaries.ts";
import { fileText, Id, StorableText } from "../shapes/text.ts";
import { Timestamp } from "../shapes/time.ts";
import { DigestAlgorithm, withDigest } from "./edge-digests.ts";
import { EdgeItem, Sha256Hex, VersionId } from "./edge-items.ts";
import { edgePieces, HeldPieces, partNumber, pieceLimits, uploadParams } from "./edge-pieces.ts";
import { DeliveryFailure, EdgeSettings, EdgeWork, SalvageFailure } from "./edge-work.ts";

/**
 * What an agent and the cloud say to each other is desired state, not messages: the agent says what it has, the cloud says the full set of
 * what it wants, and both converge from any point. Every call except `hello` carries the lease in the header below.
 */
export const LEASE_HEADER = "downlink-lease";

/**
 * Every answer to an agent carries the cloud's incarnation at that moment. If it is not the one of the last hello, the agent says hello
 * again.
 */
export const INCARNATION_HEADER = "downlink-incarnation";

/** The limits that both sides keep, in bytes, seconds and counts. */
export const edgeLimits = {
  itemsPerReport: 500,
  permitsPerCall: 500,
  permitSeconds: 600,
  /** How long the agent acts on a permit. It is much less, so that for a cloud that was restored meanwhile the permit is still open. */
  permitUseSeconds: 60,
  bytesPerReport: 4 * 1024 * 1024,
  /**
   * The most requests in an answer of `work` to an agent that takes a part of the set; below, the most bytes of any answer that an agent
   * reads.
   */
  requestsPerAnswer: 10_000,
  bytesPerWork: 4 * 1024 * 1024,
  bytesPerAnswer: 8 * 1024 * 1024,
  leaseSeconds: 60,
  formerInstances: 8,
  /** How long a poll may wait. A cloud whose answer to `hello` does not say it knows only the former limit. */
  longPollSeconds: 55,
  formerLongPollSeconds: 30,
  heartbeatSeconds: 30,
  minPartBytes: 16 * 1024 * 1024,
  /** The size of a part on a slow link, where a part of the usual size would take longer than a minute. */
  slowLinkPartBytes: 5 * 1024 * 1024,
  maxParts: 9000,
  ...pieceLimits,
} as const;

const InstanceId = StorableText.min(16).max(64);
const Reason = z.object({ versionId: VersionId, code: z.string(), text: z.string() });
/** A file whose device is unknown, with the reason. */
const Unassigned = Reason;
export type Unassigned = z.infer<typeof Unassigned>;
/** A file whose import failed, with the reason. */
const FailedImport = Reason;
export type FailedImport = z.infer<typeof FailedImport>;

/**
 * The rule under which a file is deleted on the device. `imported`: autoDeleteAfterImport · `retention`: it ended longer ago than
 * retainRecordingsSeconds, and was reported for as long · `space`: an imported file, as the disk's quota asks · `prune`: a file that may
 * never have been imported, as the quota asks and the operator allows.
 */
export const DeletionReason = z.enum(["imported", "retention", "space", "prune"]);
export type DeletionReason = z.infer<typeof DeletionReason>;

/** Why a file may not be deleted now. The list is closed. */
export const PermitRefusal = z.enum([
  "Unknown",
  "NotARecording",
  "Suspended",
  "DeviceDisabled",
  "SettingOff",
  "OpenRequest",
  "ImportNotComplete",
  "HashDiffers",
  "SafetyPeriod",
  "TooYoung",
]);
export type PermitRefusal = z.infer<typeof PermitRefusal>;

/** What the cloud says about the deletion of one file. */
export const PermitAnswer = z.discriminatedUnion("answer", [
  z.object({ versionId: VersionId, answer: z.literal("granted"), permitId: z.string(), expiresAt: Timestamp }),
  z.object({
    versionId: VersionId,
    answer: z.literal("refused"),
    code: PermitRefusal,
    text: z.string(),
    notBefore: Timestamp.optional().meta({ description: "When it is worth asking again, as far as that is known" }),
  }),
]);
export type PermitAnswer = z.infer<typeof PermitAnswer>;

const requestParams = z.object({ requestId: Id });

export const edge = {
  enroll: operation({
    method: "post",
    path: "/v1/edge/enroll",
    access: enrolmentToken(),
    summary: "Create a device, and make a secret of the agent its token",
    description:
      "With a device token that belongs to no device. Repeatable: the same enrolment answers the same device. Where the token is not `preapproved` the device is disabled until somebody enables it.",
    body: z.object({
      enrolmentId: StorableText.min(16)
        .max(64)
        .meta({ description: "Random, made by the agent and kept before it is sent" }),
      tokenSha256: Sha256Hex.meta({ description: "Of the token that the agent made for itself" }),
      deviceName: DeviceName,
    }),
    response: z.object({
      orgId: z.string(),
      projectId: z.string(),
      device: z.object({ id: z.string(), name: z.string(), enabled: z.boolean() }),
    }),
  }),
  hello: operation({
    method: "post",
    path: "/v1/edge/hello",
    access: agentToken(),
    summary: "Introduce this agent process and take or renew the lease",
    body: z.object({
      agentVersion: fileText({ max: 64 }),
      instanceId: InstanceId.meta({ description: "Random, made anew by each process" }),
      formerInstanceIds: z.array(InstanceId).max(edgeLimits.formerInstances).optional().meta({
        description: "Processes that said hello with this state directory before, whether or not they were answered",
      }),
      machineId: fileText({ min: 1, max: 128 }),
      host: z.object({
        hostname: fileText({ max: 255 }),
        platform: fileText({ max: 64 }),
        arch: fileText({ max: 64 }),
      }),
      lease: z.int().min(1).optional().meta({ description: "The last lease this state directory held" }),
      inventory: z.object({ count: z.int().min(0), digest: Sha256Hex }),
      clock: Timestamp,
    }),
    response: z.object({
      orgId: z.string(),
      projectId: z.string().optional().meta({ description: "The device's; a site belongs to none" }),
      projectName: z.string().optional().meta({ description: "Absent also from older control planes" }),
      device: z.object({ id: z.string(), name: z.string() }).optional().meta({ description: "With a device token" }),
      site: z.object({ id: z.string(), name: z.string() }).optional().meta({ description: "With a site token" }),
      settings: EdgeSettings,
      serverTime: Timestamp,
      incarnation: z.string().meta({ description: "New after the cloud was restored from a backup" }),
      dataUrl: z
        .string()
        .optional()
        .meta({ description: "Where the targets of granted parts are, to see whether that can be reached" }),
      lease: z.int().min(1),
      longPollSeconds: z.int().min(1).optional().meta({
        description: "For how long a call for work may wait; absent from control planes that take 30 at most",
      }),
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
    bodySize: "large",
    body: z.object({
      sequence: z.int().min(1).meta({
        description: "Rises with every report of one lease; only a repeat of the same report may carry it again",
      }),
      upserts: z.array(EdgeItem).max(edgeLimits.itemsPerReport),
      removals: z.array(VersionId).max(edgeLimits.itemsPerReport).default([]),
      deletions: z
        .array(z.object({ versionId: VersionId, because: DeletionReason }))
        .max(edgeLimits.itemsPerReport)
        .optional()
        .meta({ description: "Removals that the agent brought about itself, and under which rule" }),
      acknowledgements: z
        .array(Id)
        .max(edgeLimits.itemsPerReport)
        .default([])
        .meta({ description: "Ids of ended import requests" }),
      schemas: z.array(z.object({ sha256: Sha256Hex, data: z.base64() })).default([]),
      listing: z
        .object({ id: StorableText.min(8).max(64), isLast: z.boolean(), count: z.int().min(0).optional() })
        .optional()
        .meta({ description: "`count`, on the last one: how many files the whole listing names" }),
    }),
    response: z.object({
      unknownSchemas: z.array(Sha256Hex),
      imported: z.array(VersionId).optional().meta({
        description: "In a listing: which of the upserts are imported, for an agent that lost its state",
      }),
      failed: z.array(FailedImport).optional().meta({
        description: "In a listing: of which of the upserts the import failed, and why",
      }),
      importedContents: z
        .array(z.object({ versionId: VersionId, sha256: Sha256Hex }))
        .optional()
        .meta({
          description: "In a listing: of those that are imported, the SHA-256 that was computed of the stored bytes",
        }),
      isListingComplete: z
        .boolean()
        .optional()
        .meta({ description: "On the last of a listing: false asks for the listing anew" }),
      unassigned: z.array(Unassigned).optional().meta({
        description: "Of the upserts: they name no device that there is; noted in the state `unassigned`",
      }),
    }),
  }),
  work: operation({
    method: "get",
    path: "/v1/edge/work",
    access: agentToken(),
    summary: "The whole set of what the cloud wants from this agent, by long poll",
    description:
      "Answers at once when it differs from what `etag` names, else with the same set after up to `wait` seconds, at least three quarters of them. A poll that waits renews the lease. A request that is absent is cancelled, but with `more` only if `cancelled` lists it.",
    query: z.object({
      wait: queryInteger({ min: 0, max: edgeLimits.longPollSeconds }).default(0),
      etag: StorableText.max(128).optional(),
      maxRequests: queryInteger({ min: 1, max: edgeLimits.requestsPerAnswer }).optional().meta({
        description:
          "The agent understands `more`: it is answered so many, and 4 MiB, at most. Else it is answered all",
      }),
    }),
    response: z.object({ etag: z.string(), work: EdgeWork }),
  }),
  requestImports: operation({
    method: "post",
    path: "/v1/edge/imports",
    access: agentToken(),
    summary: "Ask for imports on behalf of somebody at the device; repeatable",
    description:
      "As `POST /v1/recordings/{keyOrId}/import` does: what is queued, running or done already stays as it is. The requests then come with the agent's work.",
    body: z.object({
      versionIds: z.array(VersionId).max(edgeLimits.itemsPerReport),
      priority: z.int().default(0).meta({ description: "Higher comes first" }),
    }),
    response: z.object({
      answers: z.array(
        z.object({
          versionId: VersionId,
          importStatus: ImportStatus.optional().meta({
            description: "Absent: no recording is known by this version, or its copy is about to be deleted",
          }),
        }),
      ),
    }),
  }),
  openUpload: operation({
    method: "post",
    path: "/v1/edge/imports/{requestId}/upload",
    access: agentToken(),
    summary: "Open or reopen the upload of one file version",
    params: requestParams,
    body: z.object({
      versionId: VersionId,
      size: ByteCount,
      modifiedAt: Timestamp,
      partSize: z.int().min(edgeLimits.slowLinkPartBytes).max(edgeLimits.minPartBytes).optional().meta({
        description: "A wish, on a slow link; an upload that is open already keeps its own",
      }),
      digests: z.array(DigestAlgorithm).max(8).optional().meta({
        description: "The digests that the agent can send for its parts and pieces; absent: MD5 alone",
      }),
      sha256: Sha256Hex.optional().meta({
        description:
          "Of the whole file, where it is known. Where this device's imported recordings have that content already, the request ends as `failed` with `DuplicateContent` before a byte is sent, and the call with `RequestSuperseded`",
      }),
    }),
    response: z.object({
      uploadId: z.string(),
      partSize: z.int().min(1),
      digest: DigestAlgorithm.optional().meta({
        description: "The digest of all parts and pieces of this upload; absent: MD5",
      }),
      isStored: z.boolean().meta({ description: "Every byte is here already: nothing more to send" }),
      wantsSha256: z.boolean().optional().meta({
        description:
          "An imported recording of this device may have the same content: it pays to hash the file and to open the upload again with its `sha256`. Who does not sends the parts",
      }),
      parts: z.array(withDigest({ number: partNumber, length: ByteCount })).meta({ description: "Durable parts" }),
      pieces: HeldPieces.optional().meta({
        description: "On a slow link parts may be sent in pieces; absent where that is not possible",
      }),
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
        .array(withDigest({ number: partNumber, length: z.int().min(1) }))
        .min(1)
        .max(100),
    }),
    response: z.object({
      grants: z.array(z.object({ number: partNumber, url: Credential, headers: z.record(z.string(), z.string()) })),
    }),
  }),
  ...edgePieces,
  completeUpload: operation({
    method: "post",
    path: "/v1/edge/imports/{requestId}/upload/{uploadId}/complete",
    access: agentToken(),
    summary: "Say that every part was sent; repeatable",
    params: uploadParams,
    bodySize: "large",
    body: z.object({
      parts: z.array(withDigest({ number: partNumber, etag: StorableText.optional() })).max(10_000),
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
    body: z.object({ versionId: VersionId, code: DeliveryFailure, text: fileText({ max: 1000 }) }),
    response: z.object({ recordingId: z.string() }),
  }),
  failSalvage: operation({
    method: "post",
    path: "/v1/edge/salvages/{requestId}/failed",
    access: agentToken(),
    summary: "Say that nothing can be salvaged of the file, with a coded reason",
    params: requestParams,
    body: z.object({ versionId: VersionId, code: SalvageFailure, text: fileText({ max: 1000 }) }),
    response: z.object({ requestId: z.string() }),
  }),
  askPermits: operation({
    method: "post",
    path: "/v1/edge/permits",
    access: agentToken(),
    summary: "Ask leave to delete files on the device; repeatable",
    description:
      "A permit is good until it expires. So long the edge copy counts as gone: imports of it are refused. When it has expired and nothing was reported as deleted, the copy is there again. `imported` and `space` need the SHA-256 of the file as it is now on the device, which must be that of the imported data.",
    body: z.object({
      items: z
        .array(z.object({ versionId: VersionId, sha256: Sha256Hex.optional(), reason: DeletionReason }))
        .max(edgeLimits.permitsPerCall),
    }),
    response: z.object({ serverTime: Timestamp, answers: z.array(PermitAnswer) }),
  }),
  status: operation({
    method: "post",
    path: "/v1/edge/status",
    access: agentToken(),
    summary: "Heartbeat with counters; at most every 30 seconds",
    body: AgentStatus,
    response: z.object({ serverTime: Timestamp }),
  }),
};
