import { z } from "zod";
import { ByteCount } from "../shapes/summaries.ts";
import { fileText, StorableText } from "../shapes/text.ts";
import { Timestamp } from "../shapes/time.ts";

/** `text` makes a schema for a text of a given length at most. */
function statusOf<T extends z.ZodType<string, string>>(text: (max: number) => T) {
  return z.object({
    files: z.record(StorableText, z.int().min(0)).meta({ description: "Count of files by state" }),
    disk: z.object({ totalBytes: ByteCount, freeBytes: ByteCount }).optional(),
    problems: z
      .array(
        z.object({
          code: text(64),
          text: text(1000),
          since: Timestamp,
          title: text(200).optional(),
          fix: text(1000).optional().meta({ description: "Says what to do about it" }),
        }),
      )
      .max(20),
    transfers: z
      .array(z.object({ recordingId: StorableText, sentBytes: ByteCount, bytesPerSecond: ByteCount }))
      .max(16)
      .optional()
      .meta({ description: "The uploads under way" }),
    throttle: z
      .object({ reason: text(300), until: Timestamp.optional() })
      .optional()
      .meta({
        description:
          "Present while the agent uploads nothing, because the settings of its device or a user there say so",
      }),
    oldestNotImportedAt: Timestamp.optional().meta({
      description: "When the recording on the device that ended first of those that are not imported ended",
    }),
    bootedAt: Timestamp.optional().meta({ description: "When the device was started, by its own clock" }),
  });
}

/** The status that an agent reports with every heartbeat. A field that an older agent does not report is absent. */
export const AgentStatus = statusOf((max) => fileText({ max }));
export type AgentStatus = z.infer<typeof AgentStatus>;

/** The status of an agent at one moment. It is kept for seven days, for every five minutes in which the agent called. */
export const AgentPoint = z
  .object({
    at: Timestamp.meta({ description: "The beginning of the five minutes" }),
    freeBytes: ByteCount.optional(),
    bytesPerSecond: z.number().min(0).meta({ description: "The rate of all uploads under way together" }),
    problems: z.int().min(0),
  })
  .meta({ id: "AgentPoint" });
export type AgentPoint = z.infer<typeof AgentPoint>;

/** The last report of the agent of a device or of an edge site about itself; read-only. The specification does not have it. */
export const EdgeAgent = z
  .object({
    online: z.boolean().meta({ description: "It was heard of within the last minute" }),
    lastSeenAt: Timestamp,
    version: z.string(),
    hostname: z.string().optional(),
    platform: z.string().optional(),
    arch: z.string().optional(),
    clockSkewMs: z.int().optional().meta({ description: "Its clock minus the server's" }),
    cloned: z.boolean().meta({ description: "Two agents work with copies of one state: none of them is served" }),
    status: statusOf(() => z.string())
      .optional()
      .meta({ description: "The status of its last heartbeat" }),
  })
  .meta({ id: "EdgeAgent" });
export type EdgeAgent = z.infer<typeof EdgeAgent>;
