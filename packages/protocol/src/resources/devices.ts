import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { CursorHeaders, cursorOrOffset } from "../shapes/cursor.ts";
import { deviceNamePattern, MAX_DEVICE_NAME_LENGTH } from "../shapes/device-name.ts";
import { ORDERED_CHARACTERS, page, SortOrder, sorting } from "../shapes/list.ts";
import { PropertyChanges, PropertyValue, PropertyValues } from "../shapes/properties.ts";
import { queryText } from "../shapes/query-text.ts";
import { inProject } from "../shapes/selectors.ts";
import { Id, StorableText } from "../shapes/text.ts";
import { TimeBound, Timestamp } from "../shapes/time.ts";
import { PropertyKey } from "./custom-properties.ts";
import { AgentPoint, EdgeAgent } from "./edge-agents.ts";

export const DeviceName = z
  .string()
  .min(1)
  .max(MAX_DEVICE_NAME_LENGTH)
  .regex(deviceNamePattern, "may hold letters, digits, and the characters _ . -, but not be . or .. alone");

export const RetainRecordingsSeconds = z
  .int()
  .min(0)
  .meta({ description: "Seconds; 0 keeps recordings on the device for ever" });

export const Device = z
  .object({
    id: z.string(),
    name: z.string(),
    projectId: z.string(),
    orgId: z.string(),
    retainRecordingsSeconds: RetainRecordingsSeconds.optional(),
    enabled: z.boolean().meta({ description: "A disabled device lists its files, but nothing is uploaded" }),
    remoteAccessEnabled: z.boolean(),
    autoDeleteAfterImport: z.boolean(),
    properties: PropertyValues.optional(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    agent: EdgeAgent.optional().meta({ description: "Read-only; absent while no agent was ever there" }),
  })
  .meta({ id: "Device" });
export type Device = z.infer<typeof Device>;

export const PropertyInterval = z
  .object({
    id: z.string(),
    deviceId: z.string(),
    key: z.string(),
    value: PropertyValue,
    start: Timestamp.meta({ description: "Inclusive" }),
    end: Timestamp.optional().meta({ description: "Exclusive; absent: still in effect" }),
  })
  .meta({ id: "PropertyInterval" });
export type PropertyInterval = z.infer<typeof PropertyInterval>;

const deviceRef = {
  params: z.object({
    nameOrId: Id.meta({ description: "A device's name or id; where both fit, the name wins" }),
  }),
  query: z.object(inProject),
};

/** The filters and the order of a list of devices. */
export const deviceList = {
  ...inProject,
  query: queryText("Terms on custom properties, with the prefix `properties.`"),
  nameMatches: StorableText.optional().meta({ description: "A part of the name, in any case" }),
  sortBy: z
    .union([
      z.enum(["id", "name", "lastSeenAt", "problems", "freeBytes"]),
      z
        .string()
        .regex(
          /^properties\.[A-Za-z0-9_-]{1,32}$/,
          "must be id, name, lastSeenAt, problems, freeBytes, or properties. and a custom property's key",
        ),
    ])
    .optional()
    .meta({
      description: `\`id\`, \`name\`, or a custom property's key prefixed \`properties.\`. Values of the device's agent: \`lastSeenAt\`, how many \`problems\` it has, and the \`freeBytes\` of its disk. Devices without the value come last either way, and equal ones are in the order of their ids. The first ${ORDERED_CHARACTERS} characters of a property's value count`,
    }),
  sortOrder: SortOrder.default("asc"),
};

export const devices = {
  list: operation({
    method: "get",
    path: "/v1/devices",
    access: apiKey("devices.list", "projects"),
    summary: "List devices",
    query: z.object({ ...deviceList, ...cursorOrOffset }),
    response: z.array(Device),
    responseHeaders: CursorHeaders,
  }),
  create: operation({
    method: "post",
    path: "/v1/devices",
    audits: "device",
    makes: { repeat: "answer", idField: "id" },
    access: apiKey("devices.create", "projects"),
    summary: "Create a device",
    body: z.object({
      name: DeviceName,
      properties: PropertyChanges.optional().meta({ description: "Keys that are no custom property are ignored" }),
      ...inProject,
    }),
    response: Device,
  }),
  get: operation({
    method: "get",
    path: "/v1/devices/{nameOrId}",
    access: apiKey("devices.list", "projects"),
    summary: "Get a device by name or id",
    ...deviceRef,
    response: Device,
  }),
  update: operation({
    method: "patch",
    path: "/v1/devices/{nameOrId}",
    audits: "device",
    access: apiKey("devices.update", "projects"),
    summary: "Update a device; what is not sent stays as it is",
    ...deviceRef,
    body: z.object({
      name: z
        .union([z.literal(""), DeviceName])
        .optional()
        .meta({ description: "An empty name means unchanged" }),
      retainRecordingsSeconds: RetainRecordingsSeconds.optional(),
      enabled: z.boolean().optional(),
      remoteAccessEnabled: z.boolean().optional(),
      autoDeleteAfterImport: z.boolean().optional(),
      properties: PropertyChanges.optional(),
    }),
    response: Device,
  }),
  delete: operation({
    method: "delete",
    path: "/v1/devices/{nameOrId}",
    audits: "device",
    access: apiKey("devices.delete", "projects"),
    summary: "Delete a device that has no data left",
    ...deviceRef,
    response: z.object({ id: z.string() }),
  }),
  releaseAgent: operation({
    method: "post",
    path: "/v1/devices/{nameOrId}/agent/release",
    audits: "device",
    makes: "nothing",
    access: apiKey("devices.update", "projects"),
    summary: "Serve a device's agent again after it was found to be cloned, once only one of the two is left",
    ...deviceRef,
    response: Device,
  }),
  listAgentHistory: operation({
    method: "get",
    path: "/v1/devices/{nameOrId}/agent-history",
    access: apiKey("devices.list", "projects"),
    summary: "List how a device's agent fared in the last seven days, every five minutes",
    params: deviceRef.params,
    query: deviceRef.query.extend(page),
    response: z.array(AgentPoint),
  }),
  setPastProperty: operation({
    method: "post",
    path: "/v1/actions/devices/{nameOrId}/update-property-time-interval",
    audits: "device",
    makes: "nothing",
    access: apiKey("devices.update", "projects"),
    summary: "Say what a custom property's value was over a past time range",
    description:
      "Intervals that overlap it are split, trimmed or deleted. The current value is set by updating the device.",
    params: deviceRef.params,
    body: z.object({
      key: PropertyKey,
      value: PropertyValue.nullish().meta({ description: "Absent or null: no value was set" }),
      start: Timestamp.meta({ description: "Inclusive; in the past" }),
      end: Timestamp.meta({ description: "Exclusive; in the past" }),
      ...inProject,
    }),
  }),
  listPropertyHistory: operation({
    method: "get",
    path: "/v1/devices/{nameOrId}/property-time-intervals",
    access: apiKey("devices.list", "projects"),
    summary: "List the values that a device's custom properties had, by start",
    params: deviceRef.params,
    query: z.object({
      ...inProject,
      query: queryText("Terms on keys and values"),
      start: TimeBound.optional().meta({ description: "Active at or after" }),
      end: TimeBound.optional().meta({ description: "Active before" }),
      ...sorting("id", "key", "start", "end"),
      ...page,
    }),
    response: z.array(PropertyInterval),
  }),
  getPropertyInterval: operation({
    method: "get",
    path: "/v1/devices/{nameOrId}/property-time-intervals/{id}",
    access: apiKey("devices.list", "projects"),
    summary: "Get one interval of a device's property history",
    params: deviceRef.params.extend({ id: Id }),
    query: z.object(inProject),
    response: PropertyInterval,
  }),
};
