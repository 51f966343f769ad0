import { z } from "zod";
import { apiKey, operation } from "./operation.ts";
import { page, sorting } from "./shapes/list.ts";
import { PropertyChanges, PropertyValues } from "./shapes/properties.ts";
import { queryArray } from "./shapes/query.ts";
import { byDevice, inProject } from "./shapes/selectors.ts";
import { DeviceSummary } from "./shapes/summaries.ts";
import { Timestamp } from "./shapes/time.ts";

const EventMetadata = z.record(z.string(), z.string());

export const Event = z
  .object({
    id: z.string(),
    projectId: z.string(),
    start: Timestamp.meta({ description: "Inclusive" }),
    end: Timestamp.meta({ description: "Inclusive" }),
    deviceId: z.string().meta({ deprecated: true, description: "Use device.id" }),
    device: DeviceSummary,
    metadata: EventMetadata,
    createdAt: Timestamp,
    updatedAt: Timestamp,
    eventTypeId: z.string().optional(),
    properties: PropertyValues.optional(),
  })
  .meta({ id: "Event" });
export type Event = z.infer<typeof Event>;

const params = z.object({ id: z.string() });

export const events = {
  list: operation({
    method: "get",
    path: "/v1/events",
    access: apiKey("events.list"),
    summary: "List events",
    query: z.object({
      start: Timestamp.optional().meta({ description: "Of events that touch this time or a later one" }),
      end: Timestamp.optional().meta({ description: "Of events that touch this time or an earlier one" }),
      createdAfter: Timestamp.optional(),
      updatedAfter: Timestamp.optional(),
      ...byDevice,
      eventId: z.string().optional(),
      eventTypeId: z.string().optional(),
      query: z.string().optional(),
      queryFields: queryArray(["metadata", "properties"]).default(["metadata"]),
      ...inProject,
      ...sorting("id", "deviceId", "deviceName", "device.name", "device.id", "start", "createdAt", "updatedAt"),
      ...page,
    }),
    response: z.array(Event),
  }),
  create: operation({
    method: "post",
    path: "/v1/events",
    access: apiKey("events.create"),
    summary: "Create an event on a device's time line",
    body: z.object({
      ...byDevice,
      start: Timestamp,
      end: Timestamp,
      metadata: EventMetadata.default({}),
      eventTypeId: z.string().optional().meta({ description: "The event must conform to the type's properties" }),
      properties: PropertyChanges.optional().meta({ description: "Keys that are no custom property are ignored" }),
      ...inProject,
    }),
    response: Event,
  }),
  get: operation({
    method: "get",
    path: "/v1/events/{id}",
    access: apiKey("events.list"),
    summary: "Get an event",
    params,
    response: Event,
  }),
  update: operation({
    method: "patch",
    path: "/v1/events/{id}",
    access: apiKey("events.update"),
    summary: "Update an event; what is not sent stays as it is",
    params,
    body: z.object({
      start: Timestamp.optional(),
      end: Timestamp.optional(),
      metadata: EventMetadata.optional().meta({ description: "Replaces the whole" }),
      eventTypeId: z.string().optional().meta({ description: "An empty text removes the type" }),
      properties: PropertyChanges.optional(),
    }),
    response: Event,
  }),
  delete: operation({
    method: "delete",
    path: "/v1/events/{id}",
    access: apiKey("events.delete"),
    summary: "Delete an event",
    params,
    response: z.object({ id: z.string() }),
  }),
};
