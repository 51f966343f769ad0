import { z } from "zod";
import { anyPerson, operation } from "../operations/operation.ts";
import { page } from "../shapes/list.ts";
import { Id, StorableText } from "../shapes/text.ts";
import { Timestamp } from "../shapes/time.ts";

/** The most views that one member or API key saves. */
export const MAX_SAVED_VIEWS = 200;

const fields = {
  name: StorableText.min(1).max(200),
  path: StorableText.max(1000)
    .regex(
      /^\/([A-Za-z0-9_][\x21-\x22\x24-\x3e\x40-\x5b\x5d-\x7e]*)?$/,
      "must be the path of a page of ours, such as /devices",
    )
    .meta({
      description: "The path of a page, without its query",
      example: "/p/prj_01k7x9d3q8w5f2m6n4p0r1s7t8/recordings",
    }),
  query: StorableText.max(4000)
    .regex(/^[^?#]*$/, "must not hold ? or #")
    .meta({
      description: "The query of the page's address, without the question mark",
      example: "status=failed&from=now-7d",
    }),
};

export const SavedView = z
  .object({ id: z.string(), ...fields, createdAt: Timestamp, updatedAt: Timestamp })
  .meta({ id: "SavedView" });
export type SavedView = z.infer<typeof SavedView>;

const params = z.object({ id: Id });

/**
 * These operations go beyond the specification. Saved views are pages that a user comes back to; each member and each API key has its own,
 * and sees no others.
 */
export const savedViews = {
  list: operation({
    method: "get",
    path: "/v1/saved-views",
    access: anyPerson(),
    summary: "List the saved views of who calls, by name",
    query: z.object(page),
    response: z.array(SavedView),
  }),
  create: operation({
    method: "post",
    path: "/v1/saved-views",
    unaudited: "A saved view shows its owner the rows of a list, and changes none",
    access: anyPerson(),
    summary: "Save a view",
    description: `More than ${MAX_SAVED_VIEWS} are 409 \`Conflict\`.`,
    body: z.object(fields),
    response: SavedView,
  }),
  update: operation({
    method: "patch",
    path: "/v1/saved-views/{id}",
    unaudited: "A saved view shows its owner the rows of a list, and changes none",
    access: anyPerson(),
    summary: "Change a saved view; what is not sent stays as it is",
    params,
    body: z.object(fields).partial(),
    response: SavedView,
  }),
  delete: operation({
    method: "delete",
    path: "/v1/saved-views/{id}",
    audits: "savedView",
    access: anyPerson(),
    summary: "Delete a saved view",
    params,
    response: params,
  }),
};
