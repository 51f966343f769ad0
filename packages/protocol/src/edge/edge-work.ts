import { z } from "zod";
import { agentSettingFields } from "../resources/agent-settings.ts";
import { Timestamp } from "../shapes/time.ts";
import { VersionId } from "./edge-items.ts";

export const EdgeSettings = z.object({
  enabled: z.boolean(),
  retainRecordingsSeconds: z.int().min(0),
  autoDeleteAfterImport: z.boolean(),
  ...agentSettingFields,
  /** Neither is checked here, because an agent must get its work also if it does not understand a later grammar. */
  uploadRate: z.string().optional(),
  autoImport: z.array(z.string()).optional(),
});
export type EdgeSettings = z.infer<typeof EdgeSettings>;

/**
 * One import request, until the agent has acknowledged how it ended.
 * `deliver`: upload the file · `processing`: the bytes are here · `imported`, `failed`: how it ended; acknowledge it in the next report.
 */
export const WantedImport = z.object({
  requestId: z.string(),
  recordingId: z.string(),
  versionId: VersionId,
  stage: z.enum(["deliver", "processing", "imported", "failed"]),
  priority: z.int(),
  requestedAt: Timestamp,
  reason: z.object({ code: z.string(), text: z.string() }).optional(),
  isOver: z.boolean().optional().meta({
    description:
      "With `imported` and `failed`: that end does not count any more, because the data was deleted or the failure was taken back, and the file is not wanted. Such an entry has an id of its own, to be acknowledged like any other",
  }),
});
export type WantedImport = z.infer<typeof WantedImport>;

/** A request to make a recording of what is readable of this version. The recording is reported and uploaded like any other file. */
export const WantedSalvage = z.object({ requestId: z.string(), versionId: VersionId });
export type WantedSalvage = z.infer<typeof WantedSalvage>;

/**
 * A request to make a recording of some topics and some time of this version. The agent writes it into a folder that has the request's name,
 * and keeps it as long as it is wanted. It is reported and uploaded like any other file.
 */
export const WantedCut = z.object({
  requestId: z.string(),
  versionId: VersionId,
  topics: z.array(z.string()).meta({ description: "Names" }),
  start: Timestamp,
  end: Timestamp,
  isMade: z.boolean().meta({ description: "It was reported: nothing more is to be written" }),
});
export type WantedCut = z.infer<typeof WantedCut>;

export const EdgeWork = z.object({
  imports: z.array(WantedImport),
  salvages: z.array(WantedSalvage),
  cuts: z.array(WantedCut).optional().meta({
    description: "All that are wanted; absent from control planes that are too old for it",
  }),
  more: z.boolean().optional().meta({
    description:
      "These are the first by priority and order, not all. Only to agents that say `maxRequests`: one that does not know of it would take all others for cancelled",
  }),
  cancelled: z.array(z.string()).optional().meta({
    description: "With `more`: ids of requests that are wanted no more, until they are acknowledged in a report",
  }),
  settings: EdgeSettings,
});
export type EdgeWork = z.infer<typeof EdgeWork>;

/** The name of the metadata record in a salvage that says from which file it was made, and what that file lost. */
export const SALVAGE_RECORD_NAME = "downlink.salvage";

/** The name of the metadata record in a cut that says from which file it was made, and by which request. */
export const CUT_RECORD_NAME = "downlink.cut";

/** The reasons for which an agent gives up uploading a file. The list is closed: after anything else the agent tries again. */
export const DeliveryFailure = z.enum(["FileGone", "FileChanged", "FileUnreadable"]);
export type DeliveryFailure = z.infer<typeof DeliveryFailure>;

/** The reasons for which an agent cannot salvage a file. The list is closed. */
export const SalvageFailure = z.enum(["FileGone", "FileUnreadable", "NothingReadable", "NoSpace"]);
export type SalvageFailure = z.infer<typeof SalvageFailure>;

/**
 * The reasons for which an agent cannot cut a file. The list is closed. `EmptyCut`: no message of these topics is in that time ·
 * `CutNoSpace`: the disk has no room for it beside what recorders need.
 */
export const CutFailure = z.enum(["FileGone", "FileUnreadable", "EmptyCut", "CutNoSpace"]);
export type CutFailure = z.infer<typeof CutFailure>;
