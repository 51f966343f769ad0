import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { Credential } from "../shapes/credentials.ts";
import { page } from "../shapes/list.ts";
import { inProject } from "../shapes/selectors.ts";
import { ByteCount } from "../shapes/summaries.ts";
import { Id } from "../shapes/text.ts";
import { Timestamp } from "../shapes/time.ts";
import { TokenMaker } from "../shapes/token-facts.ts";
import { exportFacts, exportSelection, SELECTION_RULES, SELECTOR_REQUIRED, selectsSomething } from "./exports.ts";

/** The most seconds for which a viewer may open a link that streams. */
export const MAX_VIEW_SECONDS = 600;
/** The seconds for which a viewer may open a link to a file: at least, at most, and where nothing else is asked for. */
export const fileViewSeconds = { least: 60, most: 43_200, usual: 7200 } as const;
/** The most files of one API key or member at one time. */
export const MAX_FILE_VIEWS = 20;
/** The largest file that is made for a viewer. */
export const MAX_VIEW_BYTES = 4 * 1024 ** 3;
/** The most links of one API key at one time. */
export const MAX_VIEW_LINKS = 100;

const viewForms = ["stream", "file"] as const;
export const ViewForm = z.enum(viewForms);
export type ViewForm = z.infer<typeof ViewForm>;

/** A viewer of other makers that opens links. The operator names those that there are. */
export const Viewer = z
  .object({
    name: z.string().meta({ description: "The name that people know it by", example: "Lichtblick" }),
    origin: z.string().meta({ description: "Whose page reads the data", example: "https://viewer.example" }),
    as: ViewForm.meta({ description: "The form in which it reads" }),
  })
  .meta({ id: "Viewer" });
export type Viewer = z.infer<typeof Viewer>;

export const ViewLink = z
  .object({
    id: z.string(),
    projectId: z.string(),
    as: ViewForm,
    state: z.enum(["preparing", "ready", "failed"]).meta({
      description: "A stream is ready at once, and a file once it was prepared; until then its link is answered 503",
    }),
    size: ByteCount.optional().meta({
      description: "Only of a file: its bytes; while it is prepared, those that were written so far",
    }),
    contentSha256: z.string().optional().meta({
      description:
        "Only of a file that is ready: the SHA-256 of its bytes in hexadecimal, which is the link's `ETag` too",
    }),
    failure: z.string().optional().meta({ description: "With the state `failed`: why the file could not be prepared" }),
    fileName: exportFacts.fileName,
    recordingCount: z.int().min(0).meta({ description: "From which it reads" }),
    createdAt: Timestamp,
    createdBy: TokenMaker.meta({ description: "The API key with which it ends" }),
    expiresAt: Timestamp.meta({ description: "Until then it may be opened; what has begun by then goes on" }),
  })
  .meta({ id: "ViewLink" });
export type ViewLink = z.infer<typeof ViewLink>;

function isLife(form: ViewForm, seconds: number): boolean {
  return form === "stream"
    ? seconds <= MAX_VIEW_SECONDS
    : seconds >= fileViewSeconds.least && seconds <= fileViewSeconds.most;
}

/**
 * These operations go beyond the specification. A link for a viewer without an API key, such as a page elsewhere: it streams one selection
 * as an export link does, may be opened more than once, is listed, and ends when it or its key is deleted.
 */
export const viewLinks = {
  listViewers: operation({
    method: "get",
    path: "/v1/viewers",
    access: apiKey("viewLinks.create", "shared"),
    summary: "List the viewers that the operator named (`DOWNLINK_VIEWERS`), in which a view link can be opened",
    response: z.array(Viewer),
  }),
  get: operation({
    method: "get",
    path: "/v1/view-links/{id}",
    access: apiKey("viewLinks.list", "projects"),
    summary: "Get a view link that has not ended, without the link itself: whether its file is prepared",
    params: z.object({ id: Id }),
    response: ViewLink,
  }),
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
    summary: "Make a link by which an external viewer reads the selected data, as a stream or as a file",
    description: `A stream may be opened for 10 minutes at most, and begins again each time. A file may be read for 12 hours at most, whole or in ranges, as viewers do that look around in it: it is prepared once, \`GET /v1/view-links/{id}\` says when it is ready, and its link ends in the file's name. An undamaged MCAP recording that is selected whole is served as it is; else a file has ${MAX_VIEW_BYTES / 1024 ** 3} GiB at most, and an API key has ${MAX_FILE_VIEWS} files at one time: a member who makes one more loses the one that was not read for longest. Files that were not read for longest are dropped where the deployment has too many. The link ends when it is deleted, and with the API key that made it: when that is deleted, disabled, expires or loses \`viewLinks.create\`. A stream that is under way then is cut. Pages of other origins may use it where the operator names these (\`DOWNLINK_LINK_ORIGINS\`). An API key has at most ${MAX_VIEW_LINKS} at one time. ${SELECTION_RULES}`,
    bodySize: "large",
    body: z
      .object({
        ...exportSelection,
        lifeSeconds: z
          .int()
          .min(1)
          .max(fileViewSeconds.most)
          .optional()
          .meta({
            description: `How long the link may be opened: a stream 1 to ${MAX_VIEW_SECONDS} (absent: ${MAX_VIEW_SECONDS}), a file ${fileViewSeconds.least} to ${fileViewSeconds.most} (absent: ${fileViewSeconds.usual})`,
          }),
        as: ViewForm.default("stream"),
      })
      .refine(selectsSomething, SELECTOR_REQUIRED)
      .refine(({ as, lifeSeconds = MAX_VIEW_SECONDS }) => isLife(as, lifeSeconds), {
        path: ["lifeSeconds"],
        error: `must be from 1 to ${MAX_VIEW_SECONDS} for a stream, and from ${fileViewSeconds.least} to ${fileViewSeconds.most} for a file`,
      }),
    response: ViewLink.extend({
      ...exportFacts,
      link: Credential.meta({ description: "Shown in this answer alone" }),
      viewers: z
        .array(z.object({ name: z.string(), url: Credential }))
        .meta({ description: "The addresses that open it in the viewers that read this form" }),
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
