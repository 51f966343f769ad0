import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { deprecate } from "../shapes/deprecate.ts";
import { page, sorting } from "../shapes/list.ts";
import { QueryBoolean } from "../shapes/query.ts";
import { byDevice, byRecording, bySession, inProject } from "../shapes/selectors.ts";
import { StorableText } from "../shapes/text.ts";
import { TimeBound } from "../shapes/time.ts";

export const Topic = z
  .object({
    topic: z.string(),
    encoding: z.string(),
    schemaName: z.string(),
    schemaEncoding: z.string(),
    version: z.string().meta({ description: "The same for the same encoding and schema" }),
    schema: z.string().optional().meta({ description: "Base 64; only with includeSchemas" }),
  })
  .meta({ id: "Topic" });
export type Topic = z.infer<typeof Topic>;

export const topics = {
  list: operation({
    method: "get",
    path: "/v1/data/topics",
    access: apiKey("data.topics.list", "projects"),
    summary: "List the topics of the selected recordings",
    description:
      "Topics of recordings that are not imported come only when nothing but `recordingId` or `recordingKey` is given. Within `start` and `end` a recording with a long gap between its messages counts only where it has data.",
    query: z.object({
      start: TimeBound.optional().meta({ description: "Only topics of recordings that end at this time or after it" }),
      end: TimeBound.optional().meta({ description: "Only topics of recordings that start at this time or before it" }),
      importId: deprecate(StorableText.optional(), "2026-11-21"),
      ...byRecording,
      ...byDevice,
      ...bySession,
      includeSchemas: QueryBoolean.default(false),
      ...inProject,
      ...sorting("topic", "version"),
      ...page,
    }),
    response: z.array(Topic),
  }),
};
