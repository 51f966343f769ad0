import { z } from "zod";
import { apiKey, operation } from "./operation.ts";
import { page } from "./shapes/list.ts";
import { queryArray } from "./shapes/query.ts";
import { byDevice, inProject } from "./shapes/selectors.ts";
import { ByteCount, DeviceSummary } from "./shapes/summaries.ts";
import { Timestamp } from "./shapes/time.ts";

const edgeFileStates = ["settling", "incomplete", "damaged", "empty", "unassigned", "unreadable"] as const;
/** Why a file that an agent sees is no importable recording. */
export const EdgeFileState = z.enum(edgeFileStates);
export type EdgeFileState = z.infer<typeof EdgeFileState>;

export const EdgeFile = z
  .object({
    id: z.string(),
    projectId: z.string().optional(),
    device: DeviceSummary.optional(),
    path: z.string(),
    size: ByteCount,
    state: EdgeFileState,
    reason: z.object({ code: z.string(), text: z.string() }).optional(),
    salvage: z
      .object({ start: Timestamp, end: Timestamp })
      .optional()
      .meta({ description: "The span that a salvage would give" }),
    modifiedAt: Timestamp,
    reportedAt: Timestamp,
  })
  .meta({ id: "EdgeFile" });
export type EdgeFile = z.infer<typeof EdgeFile>;

export const edgeFiles = {
  list: operation({
    method: "get",
    path: "/v1/edge-files",
    access: apiKey("recordings.list"),
    summary: "List what agents see that is not an importable recording, with the reasons",
    query: z.object({
      ...byDevice,
      siteId: z.string().optional(),
      state: queryArray(edgeFileStates).optional(),
      ...inProject,
      ...page,
    }),
    response: z.array(EdgeFile),
  }),
};
