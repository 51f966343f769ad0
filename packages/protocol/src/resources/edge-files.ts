import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { page } from "../shapes/list.ts";
import { queryArray } from "../shapes/query.ts";
import { byDevice, inProject } from "../shapes/selectors.ts";
import { ByteCount, DeviceSummary, EdgeSiteSummary } from "../shapes/summaries.ts";
import { Id } from "../shapes/text.ts";
import { Timestamp } from "../shapes/time.ts";

const edgeFileStates = ["settling", "incomplete", "damaged", "empty", "unassigned", "unreadable"] as const;
/** Why a file that an agent sees is no importable recording. */
export const EdgeFileState = z.enum(edgeFileStates);
export type EdgeFileState = z.infer<typeof EdgeFileState>;

/**
 * `requested`: the agent is to make it · `made`: it is the recording `recordingId`, whose import was requested · `failed`: nothing
 * can be salvaged, see the reason; may be requested again.
 */
export const SalvageRequest = z.object({
  state: z.enum(["requested", "made", "failed"]),
  reason: z.object({ code: z.string(), text: z.string() }).optional(),
  recordingId: z.string().optional(),
  requestedAt: Timestamp,
});
export type SalvageRequest = z.infer<typeof SalvageRequest>;

export const EdgeFile = z
  .object({
    id: z.string(),
    projectId: z.string().optional(),
    device: DeviceSummary.optional(),
    edgeSite: EdgeSiteSummary.optional(),
    path: z.string(),
    size: ByteCount,
    state: EdgeFileState,
    reason: z.object({ code: z.string(), text: z.string() }).optional(),
    salvage: z
      .object({ start: Timestamp, end: Timestamp })
      .optional()
      .meta({ description: "The span that a salvage would give" }),
    salvageRequest: SalvageRequest.optional(),
    modifiedAt: Timestamp,
    reportedAt: Timestamp,
  })
  .meta({ id: "EdgeFile" });
export type EdgeFile = z.infer<typeof EdgeFile>;

export const edgeFiles = {
  list: operation({
    method: "get",
    path: "/v1/edge-files",
    access: apiKey("recordings.list", "projects"),
    summary: "List what agents see that is not an importable recording, with the reasons",
    query: z.object({
      ...byDevice,
      siteId: Id.optional(),
      state: queryArray(edgeFileStates).optional(),
      ...inProject,
      ...page,
    }),
    response: z.array(EdgeFile),
  }),
  salvage: operation({
    method: "post",
    path: "/v1/edge-files/{id}/salvage",
    unaudited: "The import request is listed with what became of it",
    makes: "nothing",
    access: apiKey("data.upload", "projects"),
    summary: "Have the agent make a recording of what is readable of an incomplete or damaged file, and import it",
    description:
      "The salvage is an MCAP with a metadata record `downlink.salvage` that names the file, the bytes it lost and why. Repeats change nothing. Once the file itself is finished, that recording is imported in place of a salvage which is still on its way.",
    params: z.object({ id: Id }),
    body: z.object({
      priority: z
        .int()
        .min(-1000)
        .max(1000)
        .default(0)
        .meta({ description: "The priority of its import; higher comes first" }),
    }),
    response: EdgeFile,
  }),
};
