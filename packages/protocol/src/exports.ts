import { z } from "zod";
import { apiKey, operation } from "./operation.ts";
import { withAliases } from "./shapes/query.ts";
import { inProject } from "./shapes/selectors.ts";
import { Timestamp } from "./shapes/time.ts";

/** One recording so far; sessions, episodes and time ranges of a device come with the fast export engine. */
export const exportLinks = {
  create: operation({
    method: "post",
    path: "/v1/data/stream",
    access: apiKey("data.stream"),
    summary: "Ask for a link that streams the selected data; it expires after 15 seconds",
    body: z
      .object({
        recordingId: z.string().min(1).optional(),
        recordingKey: withAliases(z.string().min(1).optional(), ["key"]),
        importId: z.string().min(1).optional().meta({ deprecated: true }),
        start: Timestamp.optional().meta({ description: "Inclusive" }),
        end: Timestamp.optional().meta({ description: "Inclusive" }),
        topics: z.array(z.string()).nullish().meta({ description: "Empty or absent: all" }),
        outputFormat: z.enum(["mcap", "mcap0"]).default("mcap"),
        compressionFormat: z.enum(["", "zstd", "lz4"]).default("lz4"),
        includeAttachments: z.boolean().default(false),
        isHosted: z.boolean().optional().meta({ description: "Accepted and ignored" }),
        ...inProject,
      })
      .refine(
        (body) => body.recordingId ?? body.recordingKey ?? body.importId,
        "a selector is required: recordingId, recordingKey or importId",
      ),
    response: z.object({ link: z.string() }),
  }),
};
