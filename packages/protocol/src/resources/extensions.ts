import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { Credential } from "../shapes/credentials.ts";
import { page } from "../shapes/list.ts";
import { Id } from "../shapes/text.ts";

/** The largest package that is taken, in bytes. */
export const MAX_EXTENSION_BYTES = 64 * 1024 * 1024;

export const Extension = z
  .object({
    id: z.string(),
    name: z.string(),
    publisher: z.string(),
    displayName: z.string(),
    description: z.string().nullable(),
    activeVersion: z.string().nullable(),
    sha256Sum: z.string().nullable().meta({ description: "Hexadecimal, of the active version's package" }),
  })
  .meta({ id: "Extension" });
export type Extension = z.infer<typeof Extension>;

const params = z.object({ id: Id });

/** Publishing (`POST /v1/extension-upload`) takes the raw package and is a plain route. */
export const extensions = {
  list: operation({
    method: "get",
    path: "/v1/extensions",
    access: apiKey("extensions.list", "shared"),
    summary: "List the organization's extensions",
    query: z.object(page),
    response: z.array(Extension),
  }),
  get: operation({
    method: "get",
    path: "/v1/extensions/{id}",
    access: apiKey("extensions.list", "shared"),
    summary: "Get an extension, with a signed link to its package",
    params,
    response: Extension.extend({
      foxe: Credential.meta({ description: "Good for 15 minutes; needs no credential" }),
    }),
  }),
  delete: operation({
    method: "delete",
    path: "/v1/extensions/{id}",
    audits: "extension",
    access: apiKey("extensions.delete", "organization"),
    summary: "Delete an extension with all its versions",
    params,
    response: z.object({ id: z.string() }),
  }),
};
