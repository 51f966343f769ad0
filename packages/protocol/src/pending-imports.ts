import { z } from "zod";
import { apiKey, operation } from "./operation.ts";
import { page, sorting } from "./shapes/list.ts";
import { QueryBoolean } from "./shapes/query.ts";
import { byDevice, inProject } from "./shapes/selectors.ts";
import { Timestamp } from "./shapes/time.ts";

/** `received → processing → ready for indexing → complete`, or `→ error` from any of them. */
export const PendingImportStatus = z.enum(["received", "processing", "ready for indexing", "error", "complete"]);
export type PendingImportStatus = z.infer<typeof PendingImportStatus>;

export const PendingImport = z
  .object({
    requestId: z.string(),
    orgId: z.string(),
    projectId: z.string().optional(),
    siteId: z.string(),
    deviceId: z.string().optional(),
    deviceName: z.string().optional(),
    filename: z.string(),
    status: PendingImportStatus,
    pipelineStage: z.string().meta({ description: "What is being done, or was when it failed, in words" }),
    error: z.string().optional(),
    importId: z.string().optional().meta({ description: "Set once the status is complete" }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    quarantinedAt: Timestamp.optional(),
    terminal: z.boolean().meta({ description: "Nothing more will happen without somebody's request" }),
    attempts: z.int().min(0),
    nextAttemptAt: Timestamp.optional(),
  })
  .meta({ id: "PendingImport" });
export type PendingImport = z.infer<typeof PendingImport>;

export const pendingImports = {
  list: operation({
    method: "get",
    path: "/v1/data/pending-imports",
    access: apiKey("data.imports.pending.list"),
    summary: "List pending imports: files whose bytes are here, on their way to become recordings",
    query: z.object({
      requestId: z.string().optional(),
      key: z.string().optional(),
      ...byDevice,
      error: z.string().optional().meta({ deprecated: true, description: "Exact" }),
      filename: z.string().optional().meta({ description: "Exact" }),
      updatedSince: Timestamp.optional(),
      showCompleted: QueryBoolean.default(false),
      showQuarantined: QueryBoolean.default(false),
      siteId: z.string().optional(),
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
};
