import { z } from "zod";
import { withAliases } from "./query.ts";

const ProjectId = z
  .string()
  .min(1)
  .meta({ description: "Required in organizations with several projects where a name or key must be resolved" });

export const inProject = { projectId: ProjectId.optional() };

/** One device, by id or by name; the id wins. `device.id` and `device.name` are deprecated names of the same. */
export const byDevice = {
  deviceId: withAliases(z.string().optional(), ["device.id"]),
  deviceName: withAliases(z.string().optional(), ["device.name"]),
};

export const byRecording = { recordingId: z.string().min(1).optional(), recordingKey: z.string().min(1).optional() };

export const bySession = { sessionId: z.string().optional(), sessionKey: z.string().min(1).optional() };
