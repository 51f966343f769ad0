import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { Credential } from "../shapes/credentials.ts";
import { page } from "../shapes/list.ts";
import { inProject } from "../shapes/selectors.ts";
import { Id } from "../shapes/text.ts";
import { Timestamp } from "../shapes/time.ts";
import { TokenMaker } from "../shapes/token-facts.ts";
import { exportFacts, exportSelection, SELECTION_RULES, SELECTOR_REQUIRED, selectsSomething } from "./exports.ts";

/** The most seconds for which a viewer may open its link. */
export const MAX_VIEW_SECONDS = 600;
/** The most links of one API key at one time. */
export const MAX_VIEW_LINKS = 100;

export const ViewLink = z
  .object({
    id: z.string(),
    projectId: z.string(),
    fileName: exportFacts.fileName,
    recordingCount: z.int().min(0).meta({ description: "From which it reads" }),
    createdAt: Timestamp,
    createdBy: TokenMaker.meta({ description: "The API key with which it ends" }),
    expiresAt: Timestamp.meta({ description: "Until then it may be opened; what has begun by then goes on" }),
  })
  .meta({ id: "ViewLink" });
export type ViewLink = z.infer<typeof ViewLink>;

/**
 * These operations go beyond the specification. A link for a viewer without an API key, such as a page elsewhere: it streams one selection
 * as an export link does, may be opened more than once, is listed, and ends when it or its key is deleted.
 */
export const viewLinks = {
  list: operation({
    method: "get",
    path: "/v1/view-links",
    access: apiKey("viewLinks.list", "projects"),
    summary: "List the view links that have not ended, without the links themselves",
    query: z.object({ ...page, ...inProject }),
    response: z.array(ViewLink),
  }),
  create: operation({
    method: "post",
    path: "/v1/view-links",
    audits: "viewLink",
    makes: { repeat: "link", idField: "id" },
    access: apiKey("viewLinks.create", "projects"),
    isExpensive: true,
    summary: "Make a link by which an external viewer streams the selected data, for 10 minutes at most",
    description: `The link ends when it is deleted, and with the API key that made it: when that is deleted, disabled, expires or loses \`viewLinks.create\`. A stream that is under way then is cut. Pages of other origins may use it where the operator names these (\`DOWNLINK_LINK_ORIGINS\`). An API key has at most ${MAX_VIEW_LINKS} at one time. ${SELECTION_RULES}`,
    bodySize: "large",
    body: z
      .object({
        ...exportSelection,
        lifeSeconds: z
          .int()
          .min(1)
          .max(MAX_VIEW_SECONDS)
          .default(MAX_VIEW_SECONDS)
          .meta({ description: "How long the link may be opened" }),
      })
      .refine(selectsSomething, SELECTOR_REQUIRED),
    response: ViewLink.extend({
      ...exportFacts,
      link: Credential.meta({ description: "Shown in this answer alone" }),
    }).meta({ id: "NewViewLink" }),
  }),
  delete: operation({
    method: "delete",
    path: "/v1/view-links/{id}",
    audits: "viewLink",
    access: apiKey("viewLinks.delete", "projects"),
    summary: "End a view link at once; a stream by it that is under way is cut",
    params: z.object({ id: Id }),
    response: z.object({ id: z.string() }),
  }),
};
