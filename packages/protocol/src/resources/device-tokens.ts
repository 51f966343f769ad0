import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { Credential } from "../shapes/credentials.ts";
import { page } from "../shapes/list.ts";
import { Id } from "../shapes/text.ts";
import { Timestamp } from "../shapes/time.ts";
import { tokenExpiry, tokenFacts } from "../shapes/token-facts.ts";

export const DeviceToken = z
  .object({
    id: z.string(),
    createdAt: Timestamp,
    deviceId: z.string().nullable(),
    projectId: z.string(),
    enabled: z.boolean(),
    preapproved: z.boolean().meta({ description: "Whether devices created with the token are enabled at once" }),
    ...tokenFacts,
    token: Credential.optional().meta({ description: "Shown once, in the answer that creates it" }),
  })
  .meta({ id: "DeviceToken" });
export type DeviceToken = z.infer<typeof DeviceToken>;

const params = z.object({ id: Id });

export const deviceTokens = {
  list: operation({
    method: "get",
    path: "/v1/device-tokens",
    access: apiKey("deviceTokens.list", "projects"),
    summary: "List device tokens",
    query: z.object({ deviceId: Id.optional(), ...page }),
    response: z.array(DeviceToken),
  }),
  create: operation({
    method: "post",
    path: "/v1/device-tokens",
    audits: "deviceToken",
    makes: { repeat: "secret", idField: "id" },
    access: apiKey("deviceTokens.create", "projects"),
    summary: "Create a device token",
    body: z.object({
      deviceId: Id.optional().meta({ description: "Absent: a token that can only create a device" }),
      projectId: Id.optional().meta({ description: "Required without deviceId; else it must be the device's" }),
      enabled: z.boolean().default(true),
      preapproved: z.boolean().default(false),
      ...tokenExpiry,
    }),
    response: DeviceToken,
  }),
  get: operation({
    method: "get",
    path: "/v1/device-tokens/{id}",
    access: apiKey("deviceTokens.list", "projects"),
    summary: "Get a device token",
    params,
    response: DeviceToken,
  }),
  update: operation({
    method: "patch",
    path: "/v1/device-tokens/{id}",
    audits: "deviceToken",
    access: apiKey("deviceTokens.update", "projects"),
    summary: "Enable or disable a device token",
    params,
    body: z.object({ enabled: z.boolean() }),
    response: DeviceToken,
  }),
  delete: operation({
    method: "delete",
    path: "/v1/device-tokens/{id}",
    audits: "deviceToken",
    access: apiKey("deviceTokens.delete", "projects"),
    summary: "Delete a device token; an agent that uses it is refused from then on",
    params,
    response: z.object({ id: z.string() }),
  }),
};
