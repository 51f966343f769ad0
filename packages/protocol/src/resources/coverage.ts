import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { deprecate } from "../shapes/deprecate.ts";
import { page } from "../shapes/list.ts";
import { QueryBoolean, QueryTexts, queryInteger, queryNumber } from "../shapes/query.ts";
import { byDevice, byRecording, bySession, inProject } from "../shapes/selectors.ts";
import { ByteCount, DeviceSummary, EdgeSiteSummary } from "../shapes/summaries.ts";
import { StorableText } from "../shapes/text.ts";
import { TimeBound, Timestamp } from "../shapes/time.ts";
import { deviceList } from "./devices.ts";
import { ImportStatus } from "./import-status.ts";

/** Ranges that are closer than this many seconds merge, also if a smaller tolerance is asked for. spec: Limits */
export const MIN_TOLERANCE_SECONDS = 14;
/** The most seconds that 64 bits of nanoseconds hold. */
const MAX_TOLERANCE_SECONDS = 9_223_372_036;
/** More ranges would be an answer of tens of megabytes, and are answered 400. */
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

const Span = z.object({ start: Timestamp, end: Timestamp });

export const CoverageSpan = z
  .object({
    all: Span.optional().meta({ description: "From the first to the last data; absent where there are none" }),
    usual: Span.optional().meta({
      description:
        "Without the hundredth of the recordings that starts first and the one that ends last: a robot that believed it was 1970 widens nothing",
    }),
    previous: Timestamp.optional().meta({
      description: "Where the window has no data: when the nearest before it ends",
    }),
    next: Timestamp.optional().meta({ description: "Where the window has no data: when the nearest behind it starts" }),
  })
  .meta({ id: "CoverageSpan" });
export type CoverageSpan = z.infer<typeof CoverageSpan>;

/** The most devices of one grid, and the most bins of each. */
export const MAX_GRID_DEVICES = 64;
export const MAX_GRID_BINS = 4096;
const DEFAULT_GRID_BINS = 1024;

/**
 * The bits of a cell: what there is in its time. `onItsWay`: the import is requested, or under way · `edgeOnly`: the import is not
 * requested · `third`, `twoThirds`: recordings cover at least so much of it.
 */
export const coverageBits = {
  imported: 1,
  onItsWay: 2,
  edgeOnly: 4,
  failed: 8,
  event: 16,
  third: 32,
  twoThirds: 64,
} as const;

const GridSums = z.object({
  recordings: z.int().min(0),
  bytes: ByteCount,
  coveredSeconds: z.number().min(0).meta({
    description: "The part of the window that recordings cover; times that several recordings have count once",
  }),
});

export const CoverageGrid = z
  .object({
    start: Timestamp,
    binNs: z.int().min(1),
    bins: z.int().min(1),
    devices: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        cells: z.base64().meta({
          description:
            "A byte for each bin, in base64; bits: 1 imported, 2 on its way, 4 on the device only, 8 failed, 16 an event, 32 recordings cover at least a third of it, 64 at least two thirds",
        }),
        coveredSeconds: z
          .number()
          .min(0)
          .meta({ description: "The part of the window that recordings of any status cover" }),
        imported: GridSums,
        onItsWay: GridSums,
        edgeOnly: GridSums,
        failed: GridSums,
      }),
    ),
  })
  .meta({ id: "CoverageGrid" });
export type CoverageGrid = z.infer<typeof CoverageGrid>;

export const coverage = {
  list: operation({
    method: "get",
    path: "/v1/data/coverage",
    access: apiKey("data.coverage.list", "projects"),
    isExpensive: true,
    summary: "List the time ranges for which there is data, by device and start",
    description: [
      "Every recording with data in the window, whose ends are inclusive, is in exactly one range: those of one device whose",
      "gap is at most the tolerance merge. Ranges are not clipped: they begin and end where their recordings do, also outside",
      "of the window; a recording that lies outside of it altogether counts for nothing, however near it is.",
      "A recording with long gaps between its messages, because its clock jumped, say, counts as several: each part is by itself.",
      "With `includeEdgeRecordings` a range is of one import status and of one edge site, or none, as well.",
      "Recordings without a device are never merged, and appear only where a recording or session is named.",
      "More than 100,000 ranges are 400: ask for a shorter window, a device, or with a greater tolerance.",
    ].join(" "),
    query: z.object({
      start: TimeBound,
      end: TimeBound,
      tolerance: queryNumber({ min: 0, max: MAX_TOLERANCE_SECONDS })
        .default(MIN_TOLERANCE_SECONDS)
        .meta({ description: "Seconds; below 14 counts as 14" }),
      ...byDevice,
      includeEdgeRecordings: QueryBoolean.default(false),
      importId: deprecate(StorableText.optional(), "2026-11-21"),
      ...byRecording,
      ...bySession,
      ...inProject,
    }),
    response: z.array(CoverageRange),
  }),
  span: operation({
    method: "get",
    path: "/v1/data/coverage-span",
    access: apiKey("data.coverage.list", "projects"),
    summary: "Get from when to when there is data, and what lies nearest to a window without",
    description: "Recordings without a device count only where a session is named, as in the coverage.",
    query: z.object({
      start: TimeBound.optional().meta({ description: "The start of the window; inclusive" }),
      end: TimeBound.optional().meta({ description: "The end of the window; inclusive" }),
      ...byDevice,
      includeEdgeRecordings: QueryBoolean.default(false),
      ...bySession,
      ...inProject,
    }),
    response: CoverageSpan,
  }),
  grid: operation({
    method: "get",
    path: "/v1/data/coverage-grid",
    access: apiKey("data.coverage.list", "projects"),
    isExpensive: true,
    summary: "Get what there is in each of many equal bins of time, by device",
    description: [
      "Bin `i` is the time from `start + i * binNs` to a nanosecond before the next one. A recording or event is in every bin that it",
      "touches, also one that began long before the window; one with long gaps between its messages is in no bin within them. Sums are of the recordings that touch the window, each one whole but for",
      "the seconds. Devices without data are there too, in the order of the list of devices; ids that are no visible device are left out.",
      "The window is at most 2^63 - 1 ns, which are 292 years.",
    ].join(" "),
    query: z.object({
      start: TimeBound,
      binNs: queryInteger({ min: 1 }),
      bins: queryInteger({ min: 1, max: MAX_GRID_BINS }).default(DEFAULT_GRID_BINS),
      deviceIds: QueryTexts.refine((ids) => ids.length <= MAX_GRID_DEVICES, `must name at most ${MAX_GRID_DEVICES}`)
        .optional()
        .meta({ description: "Only these devices" }),
      ...deviceList,
      limit: queryInteger({ min: 0, max: MAX_GRID_DEVICES }).default(MAX_GRID_DEVICES),
      offset: page.offset,
    }),
    response: CoverageGrid,
  }),
};
