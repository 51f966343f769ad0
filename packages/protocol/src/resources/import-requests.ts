import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { Id } from "../shapes/text.ts";
import { ImportPriority, RecordingFilter } from "./recordings.ts";

/** The most recordings that one call may name, and the most that a filter of one call may match. */
export const bulkLimits = { recordingIds: 2000, matches: 10_000 } as const;

/**
 * `NotFound`: unknown, or not visible to the caller · `EdgeCopyGone`: neither imported nor on a device any more · `NotWaiting`: its
 * import does not wait for the device, so that it has no place in the queue.
 */
export const BulkRefusal = z.enum(["NotFound", "EdgeCopyGone", "NotWaiting"]);
export type BulkRefusal = z.infer<typeof BulkRefusal>;

const Count = z.int().min(0);
const refused = z
  .array(z.object({ reason: BulkRefusal, count: z.int().min(1) }))
  .meta({ description: "The number of recordings that were not changed, by reason" });

/** The selected recordings are determined and changed in one transaction: either all of them, or none. */
const selection = {
  recordingIds: z.array(Id).min(1).max(bulkLimits.recordingIds).optional(),
  filter: RecordingFilter.optional().meta({
    description: `As the list of recordings filters; more than ${bulkLimits.matches} matches are 400, with their count`,
  }),
};
type Selection = { readonly recordingIds?: unknown; readonly filter?: unknown };
const isEither = ({ recordingIds, filter }: Selection) => (recordingIds === undefined) !== (filter === undefined);
const EITHER = "recordingIds or filter is required, and not both";
const named = { recordingIds: ["rec_01k7x9d3q8w5f2m6n4p0r1s7t9"] };
const example = { ...named, priority: 5 };

export const importRequests = {
  create: operation({
    method: "post",
    path: "/v1/data/import-requests",
    unaudited: "The import request is listed with what became of it",
    makes: { repeat: "answer" },
    access: apiKey("data.upload", "projects"),
    isExpensive: true,
    summary: "Request the import of many recordings; repeats change nothing",
    body: z
      .object({ ...selection, priority: ImportPriority.default(0) })
      .refine(isEither, EITHER)
      .meta({ example }),
    response: z.object({
      queued: Count,
      already: Count.meta({ description: "Requested before, on their way, or imported" }),
      refused,
    }),
  }),
  update: operation({
    method: "patch",
    path: "/v1/data/import-requests",
    unaudited: "The import request is listed with what became of it",
    access: apiKey("data.upload", "projects"),
    isExpensive: true,
    summary: "Change the priority of imports that wait for their devices",
    body: z
      .object({ ...selection, priority: ImportPriority })
      .refine(isEither, EITHER)
      .meta({ example }),
    response: z.object({
      changed: Count,
      already: Count.meta({ description: "Those that had this priority before" }),
      refused,
    }),
  }),
  cancel: operation({
    method: "post",
    path: "/v1/data/import-requests/cancel",
    unaudited: "The import request is listed with what became of it",
    makes: "nothing",
    access: apiKey("data.upload", "projects"),
    isExpensive: true,
    summary: "Cancel the imports of many recordings that wait for their devices",
    body: z.object(selection).refine(isEither, EITHER).meta({ example: named }),
    response: z.object({ cancelled: Count, already: Count.meta({ description: "Not requested" }), refused }),
  }),
};
