import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { byDevice, byRecording, bySession, inProject } from "../shapes/selectors.ts";
import { Id, StorableText } from "../shapes/text.ts";
import { TimeBound } from "../shapes/time.ts";

/** The longest range of a query by device, in hours. spec: Limits */
export const MAX_LAKE_FILE_HOURS = 24;

export const LakeFile = z
  .object({
    path: z.string().meta({ description: "The full path in the lake bucket" }),
    topics: z.array(z.string()),
  })
  .meta({ id: "LakeFile" });
export type LakeFile = z.infer<typeof LakeFile>;

export const lakeFiles = {
  list: operation({
    method: "get",
    path: "/v1/lake-files",
    access: apiKey("data.stream", "projects"),
    summary: "List the files by topic of recordings at a self-managed primary site",
    description:
      "The query must name a device, a recording or a session. By device, `start` and `end` are required and at most 24 hours apart. A site whose `indexingStrategy` is `split-files` makes one file for each topic of a recording; they are listed by path, all of a recording at once. A query that finds more than 100,000 is 400.",
    query: z.object({
      siteId: Id,
      ...byDevice,
      ...byRecording,
      ...bySession,
      ...inProject,
      start: TimeBound.optional(),
      end: TimeBound.optional(),
      topic: StorableText.optional(),
    }),
    response: z.array(LakeFile),
  }),
};
