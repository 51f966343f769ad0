import { z } from "zod";
import { apiKey, operation } from "./operation.ts";
import { ImportStatus } from "./recordings.ts";
import { QueryBoolean, queryNumber } from "./shapes/query.ts";
import { byDevice, byRecording, bySession, inProject } from "./shapes/selectors.ts";
import { DeviceSummary, EdgeSiteSummary } from "./shapes/summaries.ts";
import { Timestamp } from "./shapes/time.ts";

/** Ranges closer than this many seconds merge, whatever smaller tolerance is asked for. spec: Limits */
export const MIN_TOLERANCE_SECONDS = 14;
/** What 64 bits of nanoseconds hold. */
const MAX_TOLERANCE_SECONDS = 9_223_372_036;
/** More would be an answer of tens of megabytes; 400. */
export const MAX_COVERAGE_RANGES = 100_000;

export const CoverageRange = z
  .object({
    deviceId: z.string().optional(),
    device: DeviceSummary.optional(),
    start: Timestamp,
    end: Timestamp,
    status: z.enum(["at-edge", "import-pending", "imported"]).meta({ deprecated: true }),
    importStatus: ImportStatus.optional(),
    edgeSite: EdgeSiteSummary.optional().meta({
      description: "With includeEdgeRecordings, where the files lie at one",
    }),
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
    description: [
      "Every recording with data in the window, whose ends are inclusive, is in exactly one range: those of one device whose",
      "gap is at most the tolerance merge. Ranges are not clipped: they begin and end where their recordings do, also outside",
      "of the window; a recording that lies outside of it altogether counts for nothing, however near it is.",
      "With `includeEdgeRecordings` a range is of one import status and of one edge site, or none, as well.",
      "Recordings without a device are never merged, and appear only where a recording or session is named.",
      "More than 100,000 ranges are 400: ask for a shorter window, a device, or with a greater tolerance.",
    ].join(" "),
    query: z.object({
      start: Timestamp,
      end: Timestamp,
      tolerance: queryNumber({ min: 0, max: MAX_TOLERANCE_SECONDS })
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
