import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { inProject } from "../shapes/selectors.ts";
import { ByteCount, Failure } from "../shapes/summaries.ts";
import { Id, StorableText } from "../shapes/text.ts";
import { TimeBound, Timestamp } from "../shapes/time.ts";
import { ImportStatus } from "./import-status.ts";

/** The most cuts that one recording has at a time. */
export const MAX_CUTS = 100;

/** The part of a recording that a cut holds. */
const part = {
  topics: z.array(z.string()).meta({ description: "Names" }),
  start: Timestamp.meta({ description: "Log time, inclusive" }),
  end: Timestamp.meta({ description: "Log time, inclusive" }),
};

/** The recording is a part of another one, which a device cut from its file. */
export const CutOf = z.object({
  recordingId: z.string().meta({ description: "The whole recording, which may be gone" }),
  ...part,
});

/** A part of a recording that was asked for by itself. */
export const RecordingCut = z
  .object({
    id: z.string(),
    recordingId: z
      .string()
      .optional()
      .meta({ description: "The recording of the part, once the device has written it" }),
    ...part,
    size: ByteCount.optional().meta({ description: "Once the device has written it" }),
    importStatus: ImportStatus,
    failure: Failure.optional().meta({ description: "With the status `failed`: why there is no such part" }),
    waitsFor: z.string().optional().meta({ description: "Why the device has not begun, where that is known" }),
  })
  .meta({ id: "RecordingCut" });
export type RecordingCut = z.infer<typeof RecordingCut>;

/** The fields that ask for a part of a recording. With none of them all of it is meant. */
export const partFields = {
  topics: z
    .array(StorableText.min(1))
    .min(1)
    .max(1000)
    .optional()
    .meta({
      description: "Names or globs of topics, such as `/camera/*`; each must be of a topic of the recording",
      example: ["/imu", "/camera/*"],
    }),
  start: TimeBound.optional().meta({ description: "Log time, inclusive; absent: from its beginning" }),
  end: TimeBound.optional().meta({ description: "Log time, inclusive; absent: to its end" }),
};

/** The cost of an import that is not asked for yet. */
export const ImportEstimate = z
  .object({
    bytes: ByteCount.meta({
      description: "That the device would send: without the parts that are here, or on their way",
    }),
    messageCount: z.int().min(0),
    isRough: z.boolean().meta({
      description: "The sizes of the topics are not known: the bytes are estimated by the number of messages",
    }),
    seconds: z.number().min(0).optional().meta({
      description: "At the rate at which the device uploaded lately; absent if it did not",
    }),
  })
  .meta({ id: "ImportEstimate" });
export type ImportEstimate = z.infer<typeof ImportEstimate>;

/** These operations go beyond the specification: a device sends a part of a file. */
export const recordingCuts = {
  estimate: operation({
    method: "post",
    path: "/v1/recordings/{keyOrId}/import/estimate",
    unaudited: "Nothing changes",
    makes: "nothing",
    access: apiKey("recordings.list", "projects"),
    isExpensive: true,
    summary: "Estimate how much a device would send for the import of a recording, or of a part of it",
    params: z.object({ keyOrId: Id }),
    query: z.object(inProject),
    body: z.object(partFields),
    response: ImportEstimate,
  }),
  cancel: operation({
    method: "delete",
    path: "/v1/recordings/{keyOrId}/cuts/{cutId}",
    unaudited: "The import request is listed with what became of it",
    access: apiKey("data.upload", "projects"),
    summary: "Cancel the import of a part of a recording that the device has not delivered yet",
    params: z.object({ keyOrId: Id.meta({ description: "The id or key of the whole recording" }), cutId: Id }),
    query: z.object(inProject),
    response: z.object({ id: z.string() }),
  }),
};
