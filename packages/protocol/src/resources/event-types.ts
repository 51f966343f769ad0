import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { page } from "../shapes/list.ts";
import { Id, StorableText } from "../shapes/text.ts";
import { Timestamp } from "../shapes/time.ts";
import { PropertyValueType } from "./custom-properties.ts";

const Name = StorableText.min(1).max(32);
const PropertyUse = z.object({ id: Id, required: z.boolean() });
const PropertyUses = z
  .array(PropertyUse)
  .max(100)
  .refine((uses) => new Set(uses.map(({ id }) => id)).size === uses.length, "must name each custom property once")
  .meta({ description: "In order; each is a custom property of events" });

export const EventType = z
  .object({
    id: z.string(),
    name: Name,
    createdAt: Timestamp,
    updatedAt: Timestamp,
    colorName: Name.optional(),
    customProperties: z.array(PropertyUse).meta({ description: "In order; `id` names a custom property of events" }),
    properties: z
      .array(
        z.object({
          key: z.string(),
          label: z.string(),
          required: z.boolean(),
          values: z.array(z.string()).optional(),
          valueType: PropertyValueType,
        }),
      )
      .meta({ description: "The same, resolved" }),
  })
  .meta({ id: "EventType" });
export type EventType = z.infer<typeof EventType>;

const params = z.object({ id: Id });

export const eventTypes = {
  list: operation({
    method: "get",
    path: "/v1/event-types",
    access: apiKey("eventTypes.list", "shared"),
    summary: "List event types, by creation",
    query: z.object(page),
    response: z.array(EventType),
  }),
  create: operation({
    method: "post",
    path: "/v1/event-types",
    audits: "eventType",
    makes: { repeat: "answer", idField: "id" },
    access: apiKey("eventTypes.create", "organization"),
    summary: "Create an event type; its name is unique in the organization",
    body: z.object({ name: Name, colorName: Name.optional(), customProperties: PropertyUses }),
    response: EventType,
  }),
  get: operation({
    method: "get",
    path: "/v1/event-types/{id}",
    access: apiKey("eventTypes.list", "shared"),
    summary: "Get an event type",
    params,
    response: EventType,
  }),
  update: operation({
    method: "patch",
    path: "/v1/event-types/{id}",
    audits: "eventType",
    access: apiKey("eventTypes.update", "organization"),
    summary: "Change an event type; the list of custom properties is replaced whole",
    description: "Events that have the type stay as they are; a property newly required is asked for when they change.",
    params,
    body: z.object({
      name: Name.optional(),
      colorName: Name.nullable().optional().meta({ description: "Null clears it" }),
      customProperties: PropertyUses.optional(),
    }),
    response: EventType,
  }),
  delete: operation({
    method: "delete",
    path: "/v1/event-types/{id}",
    audits: "eventType",
    access: apiKey("eventTypes.delete", "organization"),
    summary: "Delete an event type that no event has",
    params,
    response: z.object({ id: z.string() }),
  }),
};
