import { z } from "zod";
import { capabilities, EVERY_CAPABILITY } from "../operations/capabilities.ts";
import { apiKey, operation } from "../operations/operation.ts";
import { Credential } from "../shapes/credentials.ts";
import { page } from "../shapes/list.ts";
import { Id, knownText, StorableText } from "../shapes/text.ts";
import { Timestamp } from "../shapes/time.ts";
import { tokenExpiry, tokenFacts } from "../shapes/token-facts.ts";

const Name = StorableText.trim().min(1).max(100);
const Capabilities = z
  .array(z.enum([EVERY_CAPABILITY, ...capabilities]))
  .min(1)
  .meta({ description: 'The capabilities of the key; `["*"]` stands for all' });

export const ApiKey = z
  .object({
    id: z.string(),
    name: Name,
    capabilities: z.array(knownText([EVERY_CAPABILITY, ...capabilities])),
    projectIds: z.array(z.string()).meta({ description: "Empty: every project of the organization" }),
    createdAt: Timestamp,
    enabled: z.boolean(),
    createdByFormerAdmin: z.boolean().meta({
      description: "An admin made it who was removed since, or is no admin any more: look whether it is still needed",
    }),
    ...tokenFacts,
    token: Credential.optional().meta({ description: "Shown once, in the answer that creates it" }),
  })
  .meta({ id: "ApiKey" });
export type ApiKey = z.infer<typeof ApiKey>;

const params = z.object({ id: Id });

/**
 * These operations go beyond the specification. A key grants only what it holds itself; one that is limited to some projects sees the keys
 * within those.
 */
export const apiKeys = {
  list: operation({
    method: "get",
    path: "/v1/api-keys",
    access: apiKey("apiKeys.list", "projects"),
    summary: "List API keys",
    query: z.object(page),
    response: z.array(ApiKey),
  }),
  create: operation({
    method: "post",
    path: "/v1/api-keys",
    audits: "apiKey",
    makes: { repeat: "secret", idField: "id" },
    access: apiKey("apiKeys.create", "projects"),
    summary: "Create an API key",
    description:
      "A key that is limited to some projects reads what the organization shares with these (definitions, shared layouts, extensions, sites) and changes nothing that is the organization's: 403 `ProjectLimited`.",
    body: z.object({
      name: Name,
      capabilities: Capabilities,
      projectIds: z
        .array(Id)
        .max(1000)
        .default([])
        .meta({ description: "Empty: every project; a key that is limited to some must name them" }),
      ...tokenExpiry,
    }),
    response: ApiKey,
  }),
  update: operation({
    method: "patch",
    path: "/v1/api-keys/{id}",
    audits: "apiKey",
    access: apiKey("apiKeys.update", "projects"),
    summary: "Rename, enable or disable an API key, or change what it may do",
    description: "The last enabled key that may do everything everywhere stays so (409).",
    params,
    body: z.object({ name: Name.optional(), enabled: z.boolean().optional(), capabilities: Capabilities.optional() }),
    response: ApiKey,
  }),
  delete: operation({
    method: "delete",
    path: "/v1/api-keys/{id}",
    audits: "apiKey",
    access: apiKey("apiKeys.delete", "projects"),
    summary: "Delete an API key; who uses it is refused from then on",
    description: "The last enabled key that may do everything everywhere stays (409).",
    params,
    response: z.object({ id: z.string() }),
  }),
};
