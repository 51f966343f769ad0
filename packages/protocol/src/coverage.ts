import { z } from "zod";
import { apiKey, operation } from "./operation.ts";
import { ImportStatus } from "./recordings.ts";
import { QueryBoolean, queryNumber } from "./shapes/query.ts";
import { byDevice, byRecording, bySession, inProject } from "./shapes/selectors.ts";
import { DeviceSummary, EdgeSiteSummary } from "./shapes/summaries.ts";
import { Timestamp } from "./shapes/time.ts";

/** Ranges closer than this many seconds merge, whatever smaller tolerance is asked for. spec: Limits */
export const MIN_TOLERANCE_SECONDS = 14;

export const CoverageRange = z
  .object({
    deviceId: z.string().optional(),
    device: DeviceSummary.optional(),
    start: Timestamp,
    end: Timestamp,
    status: z.enum(["at-edge", "import-pending", "imported"]).meta({ deprecated: true }),
    importStatus: ImportStatus.optional(),
    edgeSite: EdgeSiteSummary.optional(),
    recordingCount: z.int().min(1).optional().meta({ description: "With includeEdgeRecordings" }),
  })
  .meta({ id: "CoverageRange" });
export type CoverageRange = z.infer<typeof CoverageRange>;

export const coverage = {
  list: operation({
    method: "get",
    path: "/v1/data/coverage",
    access: apiKey("data.coverage.list"),
    summary: "List the time ranges for which there is data, by device and start",
    description:
      "Recordings of one device whose gap is at most the tolerance merge. Ranges are not clipped to the window.",
    query: z.object({
      start: Timestamp,
      end: Timestamp,
      tolerance: queryNumber({ min: 0 })
        .default(MIN_TOLERANCE_SECONDS)
        .meta({ description: "Seconds; below 14 counts as 14" }),
      ...byDevice,
      includeEdgeRecordings: QueryBoolean.default(false),
      importId: z.string().optional().meta({ deprecated: true }),
      ...byRecording,
      ...bySession,
      ...inProject,
    }),
    response: z.array(CoverageRange),
  }),
};
