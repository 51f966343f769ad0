import { z } from "zod";
import { agentToken, enrolmentToken, operation } from "../operations/operation.ts";
import { DeviceName } from "../resources/devices.ts";
import { AgentStatus } from "../resources/edge-agents.ts";
import { ImportStatus } from "../resources/import-status.ts";
import { partFields, RecordingCut } from "../resources/recording-cuts.ts";
import { DeletionReason } from "../shapes/deletion-reason.ts";
import { Sha256Hex } from "../shapes/digests.ts";
import { queryInteger } from "../shapes/query.ts";
import { fileText, Id, StorableText } from "../shapes/text.ts";
import { Timestamp } from "../shapes/time.ts";
import { EdgeItem, VersionId } from "./edge-items.ts";
import { edgeLimits } from "./edge-limits.ts";
import { PermitAnswer } from "./edge-permits.ts";
import { edgeUploads } from "./edge-uploads.ts";
import { CutFailure, DeliveryFailure, EdgeSettings, EdgeWork, SalvageFailure } from "./edge-work.ts";

const InstanceId = StorableText.min(16).max(64);
const Reason = z.object({ versionId: VersionId, code: z.string(), text: z.string() });
/** A file whose device is unknown, with the reason. */
const Unassigned = Reason;
export type Unassigned = z.infer<typeof Unassigned>;
/** A file whose import failed, with the reason. */
const FailedImport = Reason;
export type FailedImport = z.infer<typeof FailedImport>;

const requestParams = z.object({ requestId: Id });

export const edge = {
  enroll: operation({
    method: "post",
    path: "/v1/edge/enroll",
    access: enrolmentToken(),
    summary: "Create a device, and make a secret of the agent its token",
    description:
      "With a device token that belongs to no device. Repeatable: the same enrolment answers the same device. If the token is not `preapproved`, the device is disabled until an admin enables it.",
    body: z.object({
      enrolmentId: StorableText.min(16)
        .max(64)
        .meta({ description: "Random, made by the agent and kept before it is sent" }),
      tokenSha256: Sha256Hex.meta({ description: "SHA-256 of the token that the agent made for itself" }),
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
      instanceId: InstanceId.meta({ description: "Random, made by each process at its start" }),
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
      takesCuts: z
        .boolean()
        .optional()
        .meta({ description: "The agent can import parts of files; absent from older ones" }),
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
        .meta({ description: "On the last of a listing: false asks for the listing again" }),
      unassigned: z.array(Unassigned).optional().meta({
        description:
          "The upserts for which no device was found, each with the reason; they are noted in the state `unassigned`",
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
    summary: "Request imports on behalf of a user at the device; repeatable",
    description:
      "As `POST /v1/recordings/{keyOrId}/import` does: what is queued, running or done already stays as it is. The requests then come with the agent's work.",
    body: z.object({
      versionIds: z.array(VersionId).max(edgeLimits.itemsPerReport),
      priority: z.int().default(0).meta({ description: "Higher comes first" }),
      part: z
        .object({ versionId: VersionId, ...partFields })
        .optional()
        .meta({
          description:
            "A part of one file is requested, beside the files of `versionIds`; older control planes request nothing then",
        }),
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
      part: z
        .object({ importStatus: ImportStatus, cuts: z.array(RecordingCut).optional() })
        .optional()
        .meta({
          description:
            "The import of the whole recording, and what of the part is here or on its way. Absent from control planes that take no parts from a device",
        }),
    }),
  }),
  ...edgeUploads,
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
  failCut: operation({
    method: "post",
    path: "/v1/edge/cuts/{requestId}/failed",
    access: agentToken(),
    summary: "Say that the part of the file cannot be written, with a coded reason",
    params: requestParams,
    body: z.object({ versionId: VersionId, code: CutFailure, text: fileText({ max: 1000 }) }),
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
