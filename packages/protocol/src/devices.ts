import { z } from "zod";
import { apiKey, operation } from "./operation.ts";
import { page, sorting } from "./shapes/list.ts";
import { inProject } from "./shapes/selectors.ts";
import { Timestamp } from "./shapes/time.ts";

export const DeviceName = z
  .string()
  .min(1)
  .max(100)
  .regex(/^[A-Za-z0-9_.-]+$/, "may hold letters, digits, and the characters _ . -");

export const RetainRecordingsSeconds = z
  .int()
  .min(0)
  .meta({ description: "Seconds; 0 keeps recordings on the device for ever" });

export const Device = z
  .object({
    id: z.string(),
    name: DeviceName,
    projectId: z.string(),
    orgId: z.string(),
    retainRecordingsSeconds: RetainRecordingsSeconds.optional(),
    enabled: z.boolean().meta({ description: "A disabled device lists its files, but nothing is uploaded" }),
    remoteAccessEnabled: z.boolean(),
    autoDeleteAfterImport: z.boolean(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: "Device" });
export type Device = z.infer<typeof Device>;

const deviceRef = {
  params: z.object({
    nameOrId: z.string().meta({ description: "A device's name or id; where both fit, the name wins" }),
  }),
  query: z.object(inProject),
};

export const devices = {
  list: operation({
    method: "get",
    path: "/v1/devices",
    access: apiKey("devices.list"),
    summary: "List devices",
    query: z.object({ ...inProject, ...sorting("id", "name"), ...page }),
    response: z.array(Device),
  }),
  create: operation({
    method: "post",
    path: "/v1/devices",
    access: apiKey("devices.create"),
    summary: "Create a device",
    body: z.object({ name: DeviceName, ...inProject }),
    response: Device,
  }),
  get: operation({
    method: "get",
    path: "/v1/devices/{nameOrId}",
    access: apiKey("devices.list"),
    summary: "Get a device by name or id",
    ...deviceRef,
    response: Device,
  }),
  update: operation({
    method: "patch",
    path: "/v1/devices/{nameOrId}",
    access: apiKey("devices.update"),
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
    }),
    response: Device,
  }),
  delete: operation({
    method: "delete",
    path: "/v1/devices/{nameOrId}",
    access: apiKey("devices.delete"),
    summary: "Delete a device that has no data left",
    ...deviceRef,
    response: z.object({ id: z.string() }),
  }),
};
