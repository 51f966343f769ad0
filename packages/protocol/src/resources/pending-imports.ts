import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { deprecate } from "../shapes/deprecate.ts";
import { page, sorting } from "../shapes/list.ts";
import { QueryBoolean } from "../shapes/query.ts";
import { byDevice, bySession, inProject } from "../shapes/selectors.ts";
import { Id, StorableText } from "../shapes/text.ts";
import { TimeBound, Timestamp } from "../shapes/time.ts";

/** `received → processing → ready for indexing → complete`, or `→ error` from any of them. */
export const PendingImportStatus = z.enum(["received", "processing", "ready for indexing", "error", "complete"]);
export type PendingImportStatus = z.infer<typeof PendingImportStatus>;

/**
 * The requester of an import: an API key, a member, a user of the agent on the device or at the edge site, or the globs of auto-import
 * there.
 */
export const Requester = z.object({
  kind: z.enum(["apiKey", "member", "device", "site", "autoImport"]),
  id: z.string().meta({ description: "The id of the key, member, device or site" }),
  name: z.string().optional().meta({ description: "As it was when the import was asked for" }),
});
export type Requester = z.infer<typeof Requester>;

export const PendingImport = z
  .object({
    requestId: z.string(),
    orgId: z.string(),
    projectId: z.string().optional(),
    siteId: z.string(),
    deviceId: z.string().optional(),
    deviceName: z.string().optional(),
    filename: z.string(),
    status: PendingImportStatus.optional().meta({
      description:
        "Absent while the file is still to come: from the client, from the device, or while a salvage is being made; and after the request was cancelled, which `terminal` says",
    }),
    pipelineStage: z.string().meta({
      description:
        "The step that is being done, or was when it failed, in words; for a repeated upload also why its recording did not join the session that it names",
    }),
    error: z.string().optional(),
    errorCode: z
      .string()
      .optional()
      .meta({ description: "The code of the error, for programs", example: "EmptyRecording" }),
    importId: z.string().optional().meta({ description: "Set once the status is complete" }),
    recordingId: z.string().optional().meta({
      description: "Which recording the file is; of an upload once it is complete. Absent where it was deleted",
    }),
    salvageOf: z.string().optional().meta({
      description: "Present for a salvage: the request whose file it is made of",
      example: "req_01k7x9d3q8w5f2m6n4p0r1s7t8",
    }),
    existing: z.boolean().meta({
      description: "True where the upload was a repeat: its content is the recording's already, and nothing was stored",
    }),
    priority: z.int().meta({ description: "The priority of a file that a device is asked for; higher comes first" }),
    requestedBy: Requester.optional().meta({ description: "Where it is known" }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    quarantinedAt: Timestamp.optional(),
    terminal: z.boolean().meta({ description: "Nothing more will happen without another request" }),
    attempts: z.int().min(0),
    nextAttemptAt: Timestamp.optional(),
  })
  .meta({ id: "PendingImport" });
export type PendingImport = z.infer<typeof PendingImport>;

/**
 * `GET /v1/data/pending-imports/{requestId}/file` [data.stream] answers 302 to the stored bytes of a request, and is a plain route.
 * The link is good for 15 minutes; it serves ranges, `ETag` and `HEAD`, never content-encoded, and ends (404) with the stored object.
 * It works while the file is processed, after it failed, and once it is complete as long as the recording has the data of that import.
 * 404 where nothing is stored: the sentence says why.
 */
export const pendingImports = {
  list: operation({
    method: "get",
    path: "/v1/data/pending-imports",
    access: apiKey("data.imports.pending.list", "projects"),
    summary: "List pending imports: files whose bytes are here, on their way to become recordings",
    description:
      "A device's name and a session's key are known as well while only a request has them: the device was renamed or deleted, the session waits for a file that says of which device it is. By `requestId` a request is found in every state, also before its file has come, once it is complete, or after it was cancelled. `GET /v1/data/pending-imports/{requestId}/file` (with `data.stream`) answers 302 to the stored bytes.",
    query: z.object({
      requestId: StorableText.optional(),
      key: StorableText.optional(),
      ...byDevice,
      ...bySession,
      error: deprecate(StorableText.optional().meta({ description: "Exact" }), "2026-11-21"),
      filename: StorableText.optional().meta({ description: "Exact" }),
      updatedSince: TimeBound.optional(),
      showCompleted: QueryBoolean.default(false),
      showQuarantined: QueryBoolean.default(false),
      siteId: Id.optional(),
      siteBackfillJobId: StorableText.optional(),
      hasProjectId: QueryBoolean.optional().meta({ description: "False: of files whose project is not known yet" }),
      ...inProject,
      ...sorting(
        "createdAt",
        "deviceId",
        "deviceName",
        "device.name",
        "device.id",
        "error",
        "importId",
        "requestId",
        "updatedAt",
      ),
      ...page,
    }),
    response: z.array(PendingImport),
  }),
  get: operation({
    method: "get",
    path: "/v1/data/pending-imports/{requestId}",
    access: apiKey("data.imports.pending.list", "projects"),
    summary:
      "Get one import by its request, in every state: of an upload, of a file that a device is asked for, of a salvage",
    params: z.object({ requestId: Id }),
    response: PendingImport,
  }),
  errors: operation({
    method: "get",
    path: "/v1/data/import-errors",
    access: apiKey("data.imports.pending.list", "projects"),
    summary: "List the imports that failed, quarantined or not",
    query: z.object({
      ...byDevice,
      ...bySession,
      filenameMatches: StorableText.optional().meta({ description: "A part of the file name, in any case" }),
      error: StorableText.optional().meta({ description: "Exact" }),
      siteBackfillJobId: StorableText.optional(),
      hasProjectId: QueryBoolean.optional().meta({ description: "False: of files whose project is not known yet" }),
      ...inProject,
      ...sorting("createdAt", "deviceName", "device.name", "error", "requestId", "updatedAt"),
      ...page,
    }),
    response: z.array(PendingImport),
  }),
  retry: operation({
    method: "post",
    path: "/v1/data/pending-imports/{requestId}/retry",
    unaudited: "The import request is listed with what became of it",
    makes: "nothing",
    access: apiKey("data.upload", "projects"),
    summary: "Process the stored file of a failed import again; harmless while it is under way or complete",
    description:
      "A file of a device that is no longer stored is asked of the device again. 409 where neither is possible, or where another import of the recording is under way. `attempts` counts on.",
    params: z.object({ requestId: Id }),
    response: PendingImport,
  }),
  salvage: operation({
    method: "post",
    path: "/v1/data/pending-imports/{requestId}/salvage",
    unaudited: "The import request is listed with what became of it",
    makes: "nothing",
    access: apiKey("data.upload", "projects"),
    summary: "Make a recording of what is readable of a stored file that was refused as incomplete or damaged",
    description:
      "Answers the import request of the salvage, to be followed by its own `requestId`; it is of the same project, device and session, and never has the key. The salvage is an MCAP named `….salvage.mcap`, with a metadata record `downlink.salvage` that names the request and the file, the bytes and messages that were readable, the bytes lost, and why. Where not one message can be read it ends with the code `SalvageEmpty`. Repeats answer the same request, until the recording that came of it is deleted. The file itself stays as it is. 409 where the request cannot be salvaged; a file that a device lists as damaged, and has not sent, is salvaged there, by `POST /v1/edge-files/{id}/salvage`.",
    params: z.object({ requestId: Id }),
    response: PendingImport,
  }),
};
