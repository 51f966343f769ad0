import { z } from "zod";
import { operation, siteToken } from "../operations/operation.ts";
import { Credential } from "../shapes/credentials.ts";
import { Sha256Hex } from "../shapes/digests.ts";
import { queryInteger } from "../shapes/query.ts";
import { RecordingFormat } from "../shapes/recording-formats.ts";
import { ByteCount } from "../shapes/summaries.ts";
import { Id, StorableText } from "../shapes/text.ts";
import { Timestamp } from "../shapes/time.ts";

/** The limits that a self-hosted site and the control plane keep, in bytes, seconds and counts. */
export const siteLimits = {
  leaseSeconds: 60,
  formerInstances: 8,
  /** The longest description of a request in its upload link. */
  bytesPerRequest: 32 * 1024,
  /** How many starts a site names of its store. */
  marks: 10,
  longPollSeconds: 25,
  /** The most items of each list in an answer of `work` and in a report. */
  itemsPerList: 500,
  /** The findings of one file are sent compressed: in so many pieces of so many bytes, and so many bytes once they are expanded. */
  bytesPerPiece: 1024 * 1024,
  piecesPerFile: 64,
  bytesPerFile: 256 * 1024 * 1024,
  /** The most imports in an answer of `work` of which the files by topic are wanted. */
  lakesPerList: 20,
} as const;

const InstanceId = StorableText.min(16).max(64);
/** The name of an object in the site's store: the organization, then an id that the site drew. */
const ObjectKey = z.string().regex(/^[a-z0-9_-]{1,64}\/upl_[0-9a-z]{26}$/);
const Attempt = z.int().min(1);
const ImportId = z.string().regex(/^imp_[0-9a-z]{26}$/);

/** The file of one topic that a site has made and verified. */
const LakeFileReport = z.object({
  topic: StorableText,
  size: ByteCount,
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  messageCount: z.int().min(1),
  start: Timestamp,
  end: Timestamp,
});
export type LakeFileReport = z.output<typeof LakeFileReport>;

/** A key with which links to the site are signed. */
const SigningKey = z.object({ id: z.string(), secret: Credential });

const RequestState = z.enum(["awaiting", "received", "processing", "complete", "error", "cancelled", "unknown"]);
export type SiteRequestState = z.infer<typeof RequestState>;

const requestStates = z.array(z.object({ requestId: z.string(), state: RequestState }));

/** The calls between the process of a self-hosted site and the control plane; every call but `hello` carries the lease. */
export const site = {
  hello: operation({
    method: "post",
    path: "/v1/site/hello",
    access: siteToken(),
    summary: "Introduce this process of a self-hosted site, and take or renew the lease",
    description:
      "One process at a time works for a site; another one is 409 `LeaseHeldElsewhere` until the lease ends, unless it presents the last lease.",
    body: z.object({
      programVersion: StorableText.max(64),
      instanceId: InstanceId.meta({ description: "Random, made by each process at its start" }),
      formerInstanceIds: z.array(InstanceId).max(siteLimits.formerInstances).default([]),
      lease: z.int().min(1).optional().meta({ description: "The last lease that this data folder held" }),
      store: z.object({
        kind: z.enum(["file", "s3", "azure"]),
        id: InstanceId.meta({ description: "Random, kept in the store since its first use" }),
        starts: z.int().min(1).meta({ description: "How often a process began on that store" }),
        marks: z
          .array(InstanceId)
          .min(1)
          .max(siteLimits.marks)
          .meta({ description: "Random, one for each of the newest starts, this process's the last" }),
        isAccepted: z
          .boolean()
          .optional()
          .meta({ description: "The operator says that this store takes the place of a lost one" }),
      }),
      url: z
        .url({ protocol: /^https?$/ })
        .max(1000)
        .meta({ description: "Where clients reach the site" }),
    }),
    response: z.object({
      orgId: z.string(),
      siteId: z.string(),
      name: z.string(),
      lease: z.int().min(1),
      serverTime: Timestamp,
      incarnation: z.string().meta({ description: "New after the control plane was restored from a backup" }),
      keys: z.array(SigningKey),
      longPollSeconds: z.int().min(1),
    }),
  }),
  work: operation({
    method: "get",
    path: "/v1/site/work",
    access: siteToken(),
    summary: "Wait until the wanted work differs from what the caller knows, and get all of it",
    query: z.object({
      wait: queryInteger({ min: 0, max: siteLimits.longPollSeconds }).default(0),
      etag: StorableText.max(100).optional().meta({ description: "That of the last answer" }),
    }),
    response: z.object({
      etag: z.string(),
      serverTime: Timestamp,
      incarnation: z.string(),
      keys: z.array(SigningKey).meta({ description: "A key that is absent is accepted no longer" }),
      imports: z
        .array(z.object({ requestId: z.string(), key: z.string(), filename: z.string(), attempt: Attempt }))
        .meta({ description: "Stored files to read; `attempt` comes back with what was found" }),
      salvages: z
        .array(
          z.object({
            requestId: z.string(),
            attempt: Attempt,
            request: z
              .string()
              .meta({ description: "The text that is kept with the salvage, as with the file of a link" }),
            key: z.string(),
            filename: z.string(),
            facts: z
              .record(z.string(), z.string())
              .meta({ description: "The facts that the salvage states about its source" }),
          }),
        )
        .meta({ description: "Damaged files of which a new one is made, which comes as the file of its own request" }),
      removals: z
        .array(z.object({ requestId: z.string(), key: z.string() }))
        .meta({ description: "Objects and uploads that are not needed any more" }),
      relistId: z.string().nullable().meta({
        description: "The relisting that is wanted: report all files and all objects, and then `relistedId`",
      }),
      confirmations: z.array(z.string()).meta({
        description:
          "Objects whose copies on devices are about to be deleted: look now whether they are there, and report each under `confirmed` or `missing`",
      }),
      lakes: z
        .array(z.object({ importId: z.string(), key: z.string(), format: RecordingFormat }))
        .meta({ description: "Recordings of which a file for each topic is wanted" }),
      lakeRemovals: z.array(z.string()).meta({ description: "Imports whose files by topic are not needed any more" }),
    }),
  }),
  report: operation({
    method: "post",
    path: "/v1/site/report",
    access: siteToken(),
    summary: "Report what happened at the site; repeats are harmless",
    bodySize: "large",
    body: z.object({
      stored: z
        .array(
          z.object({
            requestId: Id,
            key: ObjectKey,
            size: ByteCount,
            request: StorableText.max(siteLimits.bytesPerRequest).optional().meta({
              description: "The upload link's description of an `unknown` request, which is restored from it",
            }),
            sha256: Sha256Hex.optional().meta({
              description: "That the agent announced, of a file that came in parts",
            }),
          }),
        )
        .max(siteLimits.itemsPerList)
        .default([])
        .meta({ description: "Files that are durable now" }),
      begun: z
        .array(z.object({ requestId: Id, attempt: Attempt }))
        .max(siteLimits.itemsPerList)
        .default([]),
      failed: z
        .array(
          z.object({
            requestId: Id,
            attempt: Attempt,
            code: StorableText.min(1).max(64),
            text: StorableText.max(2000),
            sha256: Sha256Hex.optional().meta({
              description: "SHA-256 of the bytes that were read, if they were read to the end",
            }),
          }),
        )
        .max(siteLimits.itemsPerList)
        .default([])
        .meta({ description: "Files that can never be imported as they are" }),
      present: z
        .array(z.object({ key: ObjectKey, size: ByteCount }))
        .max(siteLimits.itemsPerList)
        .default([])
        .meta({ description: "Objects that the store has, for a relisting" }),
      relistedId: Id.optional().meta({ description: "The relisting whose last objects these are" }),
      removed: z.array(ObjectKey).max(siteLimits.itemsPerList).default([]),
      confirmed: z
        .array(z.object({ key: ObjectKey, size: ByteCount }))
        .max(siteLimits.itemsPerList)
        .default([]),
      missing: z.array(ObjectKey).max(siteLimits.itemsPerList).default([]),
      savedKeyIds: z.array(Id).max(siteLimits.itemsPerList).default([]).meta({
        description: "Signing keys that the site has kept durably",
      }),
      lakes: z.array(ImportId).max(siteLimits.itemsPerList).default([]).meta({
        description: "Imports of which the site has files by topic, or has begun to make them",
      }),
      lakesRemoved: z.array(ImportId).max(siteLimits.itemsPerList).default([]),
      lakesRefused: z
        .array(z.object({ importId: ImportId, text: StorableText.max(2000) }))
        .max(siteLimits.itemsPerList)
        .default([])
        .meta({ description: "Imports whose files by topic can never be made" }),
    }),
    response: z.object({
      serverTime: Timestamp,
      requests: requestStates,
      strangeKeys: z
        .array(z.string())
        .meta({ description: "Those of `present` that the control plane knows nothing of; they stay" }),
      unneededLakes: z.array(z.string()).meta({ description: "Those of `lakes` that are not needed" }),
    }),
  }),
  lakeFiles: operation({
    method: "post",
    path: "/v1/site/lakes/{importId}/files",
    access: siteToken(),
    summary: "Report the files by topic of an import, in pages; with the last one all are listed at once",
    description:
      "The pages come in their order. The first one starts over; a repeat of the last one that was taken is harmless.",
    bodySize: "large",
    params: z.object({ importId: ImportId }),
    body: z.object({
      number: z.int().min(1),
      isLast: z.boolean(),
      files: z.array(LakeFileReport).max(siteLimits.itemsPerList),
    }),
    response: z.object({
      state: z.enum(["reporting", "listed", "refused", "unneeded"]),
      refusal: z.string().optional(),
    }),
  }),
  inbox: operation({
    method: "post",
    path: "/v1/site/inbox",
    access: siteToken(),
    summary: "Request the imports of files in the site's inbox, and ask what became of them; repeats are harmless",
    bodySize: "large",
    body: z.object({
      files: z
        .array(
          z.object({
            requestId: z
              .string()
              .regex(/^req_[0-9a-z]{26}$/)
              .meta({ description: "Drawn by the site" }),
            filename: StorableText.min(1).max(4096),
            isNew: z.boolean().meta({ description: "The site has not stored the file yet" }),
          }),
        )
        .max(siteLimits.itemsPerList),
    }),
    response: z.object({
      files: z.array(
        z.object({
          requestId: z.string(),
          state: RequestState,
          request: z
            .string()
            .optional()
            .meta({ description: "The text that is kept with the file, as with that of a link" }),
          reason: z.string().optional().meta({ description: "Why it cannot be imported" }),
        }),
      ),
    }),
  }),
  selection: operation({
    method: "get",
    path: "/v1/site/selections/{id}",
    access: siteToken(),
    summary: "Get the selection of an export link to this site that was too long for the link",
    params: z.object({ id: z.string().regex(/^exp_[0-9a-z]{26}$/) }),
    response: z.object({ data: z.base64() }),
  }),
  findings: operation({
    method: "post",
    path: "/v1/site/imports/{requestId}/findings",
    access: siteToken(),
    summary: "Send a piece of what was found in a file; the last one files the recording",
    description:
      "The pieces are the JSON of `SiteFindings`, compressed by raw deflate. They may be sent again; a piece of an attempt that is over changes nothing.",
    bodySize: "large",
    params: z.object({ requestId: Id }),
    body: z.object({
      attempt: Attempt,
      number: z.int().min(1).max(siteLimits.piecesPerFile),
      isLast: z.boolean(),
      data: z.base64().max(Math.ceil(siteLimits.bytesPerPiece / 3) * 4),
    }),
    response: z.object({ state: RequestState }),
  }),
};
