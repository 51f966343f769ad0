import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { CursorHeaders, cursorOrOffset } from "../shapes/cursor.ts";
import { ORDERED_CHARACTERS, page, sorting } from "../shapes/list.ts";
import { QueryBoolean, QueryTexts, queryArray, withAliases } from "../shapes/query.ts";
import { queryText } from "../shapes/query-text.ts";
import { byDeviceOrNone, bySessionOrNone, inProject } from "../shapes/selectors.ts";
import {
  ByteCount,
  DataDamage,
  DeviceSummary,
  EdgeSiteSummary,
  Failure,
  MetadataRecord,
  RecordingLocation,
  SiteSummary,
  StoredDamage,
} from "../shapes/summaries.ts";
import { Id, StorableText, UniqueKey } from "../shapes/text.ts";
import { TimeBound, Timestamp } from "../shapes/time.ts";
import { ImportStatus, importStatuses } from "./import-status.ts";
import { CutOf, partFields, RecordingCut } from "./recording-cuts.ts";

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
    messageCount: z.int().min(0).meta({ description: "As the agent counted them, until the file is imported" }),
    sessionId: z.string().optional(),
    sessionKey: z.string().optional().meta({ description: "The key of its session, if that has one" }),
    cutOf: CutOf.optional().meta({ description: "The whole recording of which this is a part" }),
    cuts: z.array(RecordingCut).optional().meta({
      description: "In the answer for a single recording: its parts that were asked for by themselves",
    }),
    failure: Failure.optional().meta({ description: "With the status `failed`: why its import failed" }),
    damage: DataDamage.optional().meta({
      description:
        "The part of the imported data that cannot be read; absent if no damage was found. Exports leave it out, and say so",
    }),
    storedDamage: StoredDamage.optional().meta({
      description:
        "While the stored data is not what was imported: it is not exported, no device deletes its copy, and the device is asked for the file again",
    }),
    unavailable: z
      .object({
        reason: z.string().meta({ description: "For example why the bucket cannot be read" }),
        since: Timestamp,
      })
      .optional()
      .meta({
        description:
          "With the status `complete`, while the self-hosted site or the bucket that has its data cannot be reached: it is listed, and not exported",
      }),
  })
  .meta({ id: "Recording" });
export type Recording = z.infer<typeof Recording>;

/** The priority of an import that a device is asked for. */
export const ImportPriority = z.int().min(-1000).max(1000).meta({ description: "Higher comes first" });

/** The fields by which recordings are selected together. */
export const recordingSelectors = {
  start: TimeBound.optional().meta({
    description: "With data at or after; inclusive. A long gap between its messages is no data",
  }),
  end: TimeBound.optional().meta({
    description: "With data at or before; inclusive. A long gap between its messages is no data",
  }),
  path: StorableText.optional().meta({ description: "Exact" }),
  pathMatches: StorableText.optional().meta({ description: "A part of the path, in any case" }),
  siteId: withAliases(Id.optional(), ["site.id"]),
  edgeSiteId: withAliases(Id.optional(), ["edgeSite.id"]),
  ...byDeviceOrNone,
  ...bySessionOrNone,
  topic: StorableText.optional(),
  metadataQuery: queryText("Terms that one metadata record of the recording matches, all of them", {
    example: "operator:ann,bob note:*",
  }),
  ...inProject,
};

/** The most devices among which recordings are selected at once; of more, the address of a call would be too long for proxies. */
export const MAX_SELECTED_DEVICES = 200;
const isFew = (ids: readonly string[]) => ids.length <= MAX_SELECTED_DEVICES;
const TOO_MANY_DEVICES = `must name at most ${MAX_SELECTED_DEVICES}`;
const ofDevices = "Recordings of any of these devices; ids that the caller cannot see select nothing";

const ofCuts = "Only parts of other recordings, or none of them";

/** The fields of {@link recordingSelectors} that have several values, as a query has them. */
const querySelectors = {
  ...recordingSelectors,
  deviceIds: QueryTexts.refine(isFew, TOO_MANY_DEVICES).optional().meta({ description: ofDevices }),
  importStatus: queryArray(importStatuses).optional(),
  isCut: QueryBoolean.optional().meta({ description: ofCuts }),
};

/** The same fields in a body. An unknown name is refused, because without that field more would be selected than was meant. */
export const RecordingFilter = z
  .strictObject({
    ...recordingSelectors,
    deviceIds: z.array(Id).refine(isFew, TOO_MANY_DEVICES).optional().meta({ description: ofDevices }),
    importStatus: z.array(ImportStatus).optional(),
    isCut: z.boolean().optional().meta({ description: ofCuts }),
  })
  .meta({ id: "RecordingFilter" });
export type RecordingFilter = z.infer<typeof RecordingFilter>;

/** The most recordings that a summary adds up. */
export const MAX_SUMMARIZED = 100_000;
/** The most devices that a summary lists. */
export const MAX_SUMMARIZED_DEVICES = 1000;

/** The sums of some recordings. They need not be whole numbers of 53 bits, because a device may say anything of its files. */
const Sums = {
  count: z.int().min(0),
  bytes: z.number().min(0),
  seconds: z
    .number()
    .min(0)
    .meta({ description: "The length of all recordings together, also where they are at the same time" }),
};

export const RecordingSummary = z
  .object({
    ...Sums,
    isCapped: z.boolean().meta({
      description: `More than ${MAX_SUMMARIZED} match: all numbers are of the first so many that were found, and so the least that there can be`,
    }),
    byStatus: z
      .array(z.object({ importStatus: ImportStatus, ...Sums }))
      .meta({ description: "Statuses that some have" }),
    byDevice: z.array(z.object({ device: DeviceSummary.optional(), ...Sums })).meta({
      description: `Those with the most recordings first, at most ${MAX_SUMMARIZED_DEVICES}; without \`device\`: of no device`,
    }),
  })
  .meta({ id: "RecordingSummary" });
export type RecordingSummary = z.infer<typeof RecordingSummary>;

/** One topic in one version of its schema, as one recording has it. */
export const RecordingTopic = z
  .object({
    topic: z.string(),
    encoding: z.string(),
    schemaName: z.string(),
    schemaEncoding: z.string(),
    version: z.string().meta({ description: "The same for the same encoding and schema" }),
    messageCount: z.int().min(0),
    start: Timestamp.optional().meta({
      description: "Log time of its first message; absent if the messages were not read",
    }),
    end: Timestamp.optional().meta({ description: "Log time of its last message" }),
    meanHz: z.number().min(0).optional().meta({
      description:
        "Messages a second between the first and the last; absent where there are not two at different times",
    }),
    maxGapNs: z.number().min(0).nullable().meta({
      description:
        "The longest time between two of its messages, in nanoseconds. Null until the data was read here (imported before that was noted: until it is indexed again), where there are less than two, or several channels, and where they are not in order of log time",
    }),
    activity: z.string().nullable().meta({
      description:
        "Base 64 of a byte for each of 256 equal parts of the recording's time: 0 where no message came, 255 where most did. Null until the data was read here, and beyond 2048 channels",
    }),
  })
  .meta({ id: "RecordingTopic" });
export type RecordingTopic = z.infer<typeof RecordingTopic>;

/** The operations that delete imported data take this parameter. */
export const forced = {
  force: QueryBoolean.optional().meta({
    description: "Delete the last copy of data that a committed dataset version holds, too",
  }),
};

const recordingRef = {
  params: z.object({ keyOrId: Id.meta({ description: "A recording's id or key" }) }),
  query: z.object(inProject),
};

const order = sorting("deviceName", "device.name", "createdAt", "start", "end", "duration", "path", "importedAt");

export const recordings = {
  list: operation({
    method: "get",
    path: "/v1/recordings",
    access: apiKey("recordings.list", "projects"),
    summary: "List recordings",
    query: z.object({
      ...querySelectors,
      ...order,
      sortBy: order.sortBy.meta({
        description: `The default is \`createdAt\`. Recordings without the value come last either way, and equal ones are in the order of their ids. The first ${ORDERED_CHARACTERS} characters of a path count`,
      }),
      ...cursorOrOffset,
    }),
    response: z.array(Recording),
    responseHeaders: CursorHeaders,
  }),
  summarize: operation({
    method: "get",
    path: "/v1/recordings/summary",
    access: apiKey("recordings.list", "projects"),
    isExpensive: true,
    summary: "Count recordings, their bytes and their seconds, by import status and by device",
    description: "A recording whose key is `summary` is got by its id.",
    query: z.object(querySelectors),
    response: RecordingSummary,
  }),
  get: operation({
    method: "get",
    path: "/v1/recordings/{keyOrId}",
    access: apiKey("recordings.list", "projects"),
    summary: "Get a recording by id or key",
    ...recordingRef,
    response: Recording,
  }),
  topics: operation({
    method: "get",
    path: "/v1/recordings/{keyOrId}/topics",
    access: apiKey("recordings.list", "projects"),
    summary: "List the topics of a recording with their messages, by topic and version",
    params: recordingRef.params,
    query: recordingRef.query.extend(page),
    response: z.array(RecordingTopic),
  }),
  delete: operation({
    method: "delete",
    path: "/v1/recordings/{keyOrId}",
    audits: "recording",
    access: apiKey("recordings.delete", "projects"),
    summary: "Delete a recording's imported data; a recording whose edge copy exists stays and can be imported again",
    description:
      "409 `InDataset` where a committed dataset version would lose the last copy of its data, and `force` is not true.",
    params: recordingRef.params,
    query: recordingRef.query.extend(forced),
    response: z.object({
      recordingId: z.string(),
      hasEdgeCopy: z.boolean().meta({ description: "The recording stays: a device has the file still" }),
    }),
  }),
  requestImport: operation({
    method: "post",
    path: "/v1/recordings/{keyOrId}/import",
    unaudited: "The import request is listed with what became of it",
    makes: "nothing",
    access: apiKey("data.upload", "projects"),
    summary: "Request the import of an edge recording; harmless when it is queued or imported already",
    description:
      "With `topics`, `start` or `end` only that part is imported: the device cuts it from its file, and it becomes a recording of its own, with `cutOf`. The device is asked only for the parts that no earlier request asked for, so that an answer may name several `cuts`. A recording that is imported already is answered as it is.",
    ...recordingRef,
    body: z.object({
      priority: ImportPriority.default(0),
      ...partFields,
      orWhole: z.boolean().default(false).meta({
        description:
          "Import the whole recording where its agent is too old to send a part; otherwise the part waits for an update",
      }),
    }),
    response: z.object({
      id: z.string(),
      importStatus: ImportStatus,
      cuts: z.array(RecordingCut).optional().meta({ description: "Those that hold the part, or will" }),
    }),
  }),
  cancelImport: operation({
    method: "delete",
    path: "/v1/recordings/{keyOrId}/import",
    unaudited: "The import request is listed with what became of it",
    access: apiKey("data.upload", "projects"),
    summary: "Cancel an import request that the edge has not delivered yet",
    ...recordingRef,
    response: z.object({ id: z.string(), importStatus: ImportStatus }),
  }),
};
