import { z } from "zod";
import { apiKey, operation } from "./operation.ts";
import { page, sorting } from "./shapes/list.ts";
import { queryArray, withAliases } from "./shapes/query.ts";
import { byDevice, bySession, inProject } from "./shapes/selectors.ts";
import {
  ByteCount,
  DataDamage,
  DeviceSummary,
  EdgeSiteSummary,
  MetadataRecord,
  RecordingLocation,
  SiteSummary,
} from "./shapes/summaries.ts";
import { UniqueKey } from "./shapes/text.ts";
import { Timestamp } from "./shapes/time.ts";

const importStatuses = ["none", "pending", "importing", "failed", "complete"] as const;
/**
 * `none`: known at the edge, import not requested · `pending`: requested, not delivered yet · `importing`: the bytes are here and
 * being processed · `complete`: streamable · `failed`: could not be imported; a new request moves it to `pending`.
 */
export const ImportStatus = z.enum(importStatuses);
export type ImportStatus = z.infer<typeof ImportStatus>;

/** Unique among the imported recordings of a project. */
export const RecordingKey = UniqueKey;

export const Recording = z
  .object({
    id: z.string(),
    projectId: z.string(),
    path: z.string().meta({ description: "As originally given; for edge recordings below the storage root" }),
    size: ByteCount,
    createdAt: Timestamp,
    importedAt: Timestamp.optional(),
    start: Timestamp.meta({ description: "Log time of the first message" }),
    end: Timestamp.meta({ description: "Log time of the last message" }),
    importStatus: ImportStatus,
    location: RecordingLocation.optional().meta({ description: "Only of files indexed in a customer's own bucket" }),
    site: SiteSummary.optional(),
    edgeSite: EdgeSiteSummary.optional(),
    device: DeviceSummary.optional(),
    key: z.string().optional(),
    metadata: z.array(MetadataRecord),
    sessionId: z.string().optional(),
    damage: DataDamage.optional().meta({
      description:
        "What of the imported data cannot be read; absent where nothing was found. Exports leave it out, and say so",
    }),
  })
  .meta({ id: "Recording" });
export type Recording = z.infer<typeof Recording>;

const recordingRef = {
  params: z.object({ keyOrId: z.string().meta({ description: "A recording's id or key" }) }),
  query: z.object(inProject),
};

export const recordings = {
  list: operation({
    method: "get",
    path: "/v1/recordings",
    access: apiKey("recordings.list"),
    summary: "List recordings",
    query: z.object({
      start: Timestamp.optional().meta({ description: "With data at or after; inclusive" }),
      end: Timestamp.optional().meta({ description: "With data at or before; inclusive" }),
      path: z.string().optional().meta({ description: "Exact" }),
      siteId: withAliases(z.string().optional(), ["site.id"]),
      edgeSiteId: withAliases(z.string().optional(), ["edgeSite.id"]),
      ...byDevice,
      ...bySession,
      topic: z.string().optional(),
      importStatus: queryArray(importStatuses).optional(),
      metadataQuery: z.string().optional().meta({
        example: "operator:ann,bob note:*",
        description: "Terms that one metadata record of the recording matches, all of them",
      }),
      ...inProject,
      ...sorting("deviceName", "device.name", "createdAt", "start", "end", "duration", "path", "importedAt"),
      ...page,
    }),
    response: z.array(Recording),
  }),
  get: operation({
    method: "get",
    path: "/v1/recordings/{keyOrId}",
    access: apiKey("recordings.list"),
    summary: "Get a recording by id or key",
    ...recordingRef,
    response: Recording,
  }),
  delete: operation({
    method: "delete",
    path: "/v1/recordings/{keyOrId}",
    access: apiKey("recordings.delete"),
    summary: "Delete a recording's imported data; a recording whose edge copy exists stays and can be imported again",
    ...recordingRef,
    response: z.object({ recordingId: z.string() }),
  }),
  requestImport: operation({
    method: "post",
    path: "/v1/recordings/{keyOrId}/import",
    access: apiKey("data.upload"),
    summary: "Request the import of an edge recording; harmless when it is queued or imported already",
    ...recordingRef,
    body: z.object({
      priority: z.int().min(-1000).max(1000).default(0).meta({ description: "Higher comes first" }),
    }),
    response: z.object({ id: z.string(), importStatus: ImportStatus }),
  }),
  cancelImport: operation({
    method: "delete",
    path: "/v1/recordings/{keyOrId}/import",
    access: apiKey("data.upload"),
    summary: "Cancel an import request that the edge has not delivered yet",
    ...recordingRef,
    response: z.object({ id: z.string(), importStatus: ImportStatus }),
  }),
};
