import { z } from "zod";
import { ByteCount } from "./shapes/summaries.ts";
import { Timestamp } from "./shapes/time.ts";

/** What the agent of a device or of an edge site last said of itself; read-only. Not in the specification. */
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
    status: z
      .object({
        files: z.record(z.string(), z.int().min(0)).meta({ description: "Count of files by state" }),
        disk: z.object({ totalBytes: ByteCount, freeBytes: ByteCount }).optional(),
        problems: z.array(z.object({ code: z.string(), text: z.string(), since: Timestamp })),
      })
      .optional()
      .meta({ description: "Of its last heartbeat" }),
  })
  .meta({ id: "EdgeAgent" });
export type EdgeAgent = z.infer<typeof EdgeAgent>;
