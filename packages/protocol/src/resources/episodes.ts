import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { AnyObject } from "../shapes/any-keys.ts";
import { CursorHeaders, cursorPage } from "../shapes/cursor.ts";
import { jsonObject, storableJsonObject } from "../shapes/json.ts";
import { sorting } from "../shapes/list.ts";
import { QueryBoolean, queryArray } from "../shapes/query.ts";
import { queryText } from "../shapes/query-text.ts";
import { inProject } from "../shapes/selectors.ts";
import { RecordingLocation } from "../shapes/summaries.ts";
import { Id } from "../shapes/text.ts";
import { TimeBound, Timestamp } from "../shapes/time.ts";

/** The most characters of an episode's metadata, and of its creationContext, as JSON, because a page has 2000 episodes. */
export const MAX_EPISODE_JSON_CHARACTERS = 65_536;
/** The most memberships of all distinct events of one request. spec: Limits */
export const MAX_EVENT_MEMBERSHIPS = 10_000;
/** The most recordings of one episode. */
export const MAX_EPISODE_RECORDINGS = 10_000;

const CreationContext = jsonObject({ maxCharacters: MAX_EPISODE_JSON_CHARACTERS }).meta({
  description:
    "How the episode came about, returned as it was sent. Known fields: `version`, `basis` {`kind`, `eventIds`, `deviceId`}, `derivedFromEpisodeId`, `search` {`version`, `projectId`, `siteIds`, `predicate`, `timeRange` {`start`, `end`}, `binNanos`, `includeDeviceless`}",
  example: { version: 1, basis: { kind: "events", eventIds: ["evt_01k7x9d3q8w5f2m6n4p0r1s7t9"] } },
});

/** A recording as it was when the episode was made, except `location`, `available` and `resolvable`, which are as of now. */
export const MemberRecording = z
  .object({
    id: z.string(),
    path: z.string(),
    location: RecordingLocation.optional().meta({ description: "As of now; only of files in a customer's own bucket" }),
    start: Timestamp.meta({ description: "Log time of the first message" }),
    end: Timestamp.meta({ description: "Log time of the last message" }),
    deviceId: z.string().optional(),
    available: z.boolean().meta({ description: "A primary site holds the recording's data now" }),
    resolvable: z
      .boolean()
      .meta({ description: "The recording still exists: where it is not available, it may be imported again" }),
  })
  .meta({ id: "MemberRecording" });
export type MemberRecording = z.infer<typeof MemberRecording>;

/** An immutable snippet of data. spec: Episode */
export const Episode = z
  .object({
    id: z.string(),
    projectId: z.string(),
    startTime: Timestamp.meta({ description: "Inclusive" }),
    endTime: Timestamp.meta({ description: "Inclusive" }),
    metadata: AnyObject,
    recordings: z
      .array(MemberRecording)
      .optional()
      .meta({ description: "Ordered by start; only when `include` has `recordings`" }),
    hasMissingRecordings: z.boolean().optional().meta({
      description: "No primary site holds the data of some recording now; only when `include` has `recordings`",
    }),
    creationContext: CreationContext.nullable()
      .optional()
      .meta({ description: "Always on get by id; in lists only when `include` has `creationContext`" }),
    creatorOrgMemberId: z.string().nullable().meta({ description: "Null where an API key created it" }),
    creatorApiKeyId: z.string().nullable().meta({ description: "Null where a member created it" }),
    createdAt: Timestamp,
  })
  .meta({ id: "Episode" });
export type Episode = z.infer<typeof Episode>;

/** The parts that an answer can show beside an episode's own fields. */
export const episodeInclude = { include: queryArray(["recordings", "creationContext"]).default([]) };

/** The filters of every list of episodes. */
export const episodeFilters = {
  start: TimeBound.optional().meta({
    description: "Given together with `end`: of episodes that touch the time between, both inclusive",
  }),
  end: TimeBound.optional(),
  hasMissingRecordings: QueryBoolean.optional().meta({
    description: "Whether no primary site holds the data of some recording of the episode now",
  }),
  recordingId: Id.optional().meta({ description: "Only episodes with this recording, which may be deleted" }),
  metadataQuery: queryText(
    "Terms that must all match the top-level keys and values of the metadata: `key:value`, `key:v1,v2`, `key:*`, `*:value`, and `text` in any key or value",
    { example: "task:pick,place success:true" },
  ),
};

const EpisodeRequest = z
  .object({
    eventId: Id.optional().meta({ description: "Instead of recordings and times" }),
    recordings: z
      .array(Id)
      .min(1)
      .max(MAX_EPISODE_RECORDINGS)
      .optional()
      .meta({ description: "Ids of recordings of the project; one named twice counts once" }),
    startTime: Timestamp.optional().meta({ description: "Inclusive; given together with endTime" }),
    endTime: Timestamp.optional().meta({
      description: "Inclusive; without both times the episode spans its recordings",
    }),
    metadata: storableJsonObject({ maxCharacters: MAX_EPISODE_JSON_CHARACTERS })
      .optional()
      .meta({ description: "Empty where it is not sent" }),
    creationContext: CreationContext.nullable()
      .optional()
      .meta({ description: "If it is not sent and eventId is, it describes the event" }),
  })
  .superRefine((item, context) => {
    const hasTimes = item.startTime !== undefined || item.endTime !== undefined;
    const refuse = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
    if (item.eventId !== undefined && (item.recordings || hasTimes))
      refuse("eventId", "must stand instead of recordings and times, not beside them");
    if (item.eventId === undefined && !item.recordings) refuse("recordings", "is required, or eventId");
    if (item.startTime === undefined && item.endTime !== undefined)
      refuse("startTime", "is required where endTime is given");
    if (item.endTime === undefined && item.startTime !== undefined)
      refuse("endTime", "is required where startTime is given");
    if (item.startTime !== undefined && item.endTime !== undefined && item.startTime > item.endTime)
      refuse("endTime", "must not be before startTime");
  });

const params = z.object({ id: Id });

export const episodes = {
  getOrCreate: operation({
    method: "post",
    path: "/v1/episodes",
    unaudited: "Episodes are made by the thousand; those of a dataset stand in its versions",
    makes: { repeat: "answer" },
    access: apiKey("episodes.create", "projects"),
    isExpensive: true,
    summary: "Get or create episodes, up to 2000 at once, all or none",
    description: [
      "An episode of the project with exactly the same time range and recordings is returned as it is: it keeps its first metadata and creationContext. The same one asked for twice, also by two callers at once, is one episode, `created` once.",
      "With `eventId`, the event's time range and the imported recordings of its device that have data in it are taken as they are now; later changes of the event and later imports do not change the episode. An event without such a recording, or within one millisecond, is 400: give recordings and times for it. All distinct events of a request may have at most 10,000 recordings in sum.",
      "Recordings need not be imported, nor touch a range that is given.",
    ].join("\n\n"),
    bodySize: "large",
    body: z.object({
      projectId: Id,
      episodes: z
        .array(EpisodeRequest)
        .min(1)
        .max(2000)
        .meta({ example: [{ recordings: ["rec_01k7x9d3q8w5f2m6n4p0r1s7t9"], metadata: { task: "pick" } }] }),
    }),
    response: z.object({
      episodes: z
        .array(z.object({ id: z.string(), created: z.boolean() }))
        .meta({ description: "In the order of the request" }),
    }),
  }),
  list: operation({
    method: "get",
    path: "/v1/episodes",
    access: apiKey("episodes.list", "projects"),
    summary: "List episodes",
    query: z.object({
      ...inProject,
      ...episodeFilters,
      ...sorting("createdAt", "startTime", "endTime"),
      ...cursorPage,
      ...episodeInclude,
    }),
    response: z.object({ episodes: z.array(Episode) }),
    responseHeaders: CursorHeaders,
  }),
  get: operation({
    method: "get",
    path: "/v1/episodes/{id}",
    access: apiKey("episodes.list", "projects"),
    summary: "Get an episode",
    params,
    query: z.object(episodeInclude),
    response: Episode,
  }),
  delete: operation({
    method: "delete",
    path: "/v1/episodes/{id}",
    audits: "episode",
    access: apiKey("episodes.delete", "projects"),
    summary: "Delete an episode that is in no version of a dataset; its recordings stay",
    description: "409 where a committed version of a dataset has it, or a staged change adds it.",
    params,
    response: z.object({ success: z.literal(true) }),
  }),
};
