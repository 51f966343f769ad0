import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { StoredTexts, textsByKey } from "../shapes/any-keys.ts";
import { CursorHeaders, cursorOrOffset } from "../shapes/cursor.ts";
import { sorting } from "../shapes/list.ts";
import { PropertyChanges, PropertyValues } from "../shapes/properties.ts";
import { queryArray } from "../shapes/query.ts";
import { queryText } from "../shapes/query-text.ts";
import { byDevice, inProject } from "../shapes/selectors.ts";
import { Creator, DeviceSummary } from "../shapes/summaries.ts";
import { Id, StorableText } from "../shapes/text.ts";
import { TimeBound, Timestamp } from "../shapes/time.ts";

/** The most characters of all keys and values of an event's metadata, because a page has 2000 events. */
export const MAX_EVENT_METADATA_CHARACTERS = 65_536;

const EventMetadata = textsByKey(StorableText)
  .refine(
    (metadata) => !Object.hasOwn(metadata, "__proto__"),
    "must have no key __proto__, which JavaScript clients cannot read",
  )
  .refine(
    (metadata) => Object.entries(metadata).flat().join("").length <= MAX_EVENT_METADATA_CHARACTERS,
    `must hold at most ${MAX_EVENT_METADATA_CHARACTERS} characters`,
  );

export const Event = z
  .object({
    id: z.string(),
    projectId: z.string(),
    start: Timestamp.meta({ description: "Inclusive" }),
    end: Timestamp.meta({ description: "Inclusive" }),
    deviceId: z.string().meta({ deprecated: true, description: "Use device.id" }),
    device: DeviceSummary,
    metadata: StoredTexts,
    createdBy: Creator.optional().meta({ description: "Absent where an earlier version created it" }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    eventTypeId: z.string().optional(),
    properties: PropertyValues.optional(),
  })
  .meta({ id: "Event" });
export type Event = z.infer<typeof Event>;

const params = z.object({ id: Id });

export const events = {
  list: operation({
    method: "get",
    path: "/v1/events",
    access: apiKey("events.list", "projects"),
    summary: "List events",
    query: z.object({
      start: TimeBound.optional().meta({ description: "Only events that touch this time or a later one" }),
      end: TimeBound.optional().meta({ description: "Only events that touch this time or an earlier one" }),
      createdAfter: TimeBound.optional().meta({ description: "Exclusive" }),
      updatedAfter: TimeBound.optional().meta({ description: "Exclusive" }),
      ...byDevice,
      eventId: StorableText.optional(),
      eventTypeId: Id.optional(),
      query: queryText("Terms on what `queryFields` names", { example: "reason:estop,fall zone:*" }),
      queryFields: queryArray(["metadata", "properties"])
        .default(["metadata"])
        .meta({ description: "Where the query is looked for; with both, each term may match in either" }),
      ...inProject,
      ...sorting("id", "deviceId", "deviceName", "device.name", "device.id", "start", "createdAt", "updatedAt"),
      ...cursorOrOffset,
    }),
    response: z.array(Event),
    responseHeaders: CursorHeaders,
  }),
  create: operation({
    method: "post",
    path: "/v1/events",
    unaudited: "Events are made by the thousand; each names its creator",
    makes: { repeat: "answer", idField: "id" },
    access: apiKey("events.create", "projects"),
    summary: "Create an event on a device's time line",
    body: z.object({
      ...byDevice,
      start: Timestamp,
      end: Timestamp,
      metadata: EventMetadata.default({}),
      eventTypeId: StorableText.optional().meta({
        description: "The event must have the properties that the type requires",
      }),
      properties: PropertyChanges.optional().meta({ description: "Keys that are no custom property are ignored" }),
      ...inProject,
    }),
    response: Event,
  }),
  get: operation({
    method: "get",
    path: "/v1/events/{id}",
    access: apiKey("events.list", "projects"),
    summary: "Get an event",
    params,
    response: Event,
  }),
  update: operation({
    method: "patch",
    path: "/v1/events/{id}",
    unaudited: "Events are made by the thousand; each names its creator",
    access: apiKey("events.update", "projects"),
    summary: "Update an event; what is not sent stays as it is",
    description:
      "Where the type or a property is sent, the event must then have the properties that its type requires; other changes never fail for a requirement that was added later.",
    params,
    body: z.object({
      start: Timestamp.optional(),
      end: Timestamp.optional(),
      metadata: EventMetadata.optional().meta({ description: "Replaces the whole" }),
      eventTypeId: StorableText.optional().meta({ description: "An empty text removes the type" }),
      properties: PropertyChanges.optional(),
    }),
    response: Event,
  }),
  delete: operation({
    method: "delete",
    path: "/v1/events/{id}",
    audits: "event",
    access: apiKey("events.delete", "projects"),
    summary: "Delete an event",
    params,
    response: z.object({ id: z.string() }),
  }),
};
