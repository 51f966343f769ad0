import { z } from "zod";
import { withAliases } from "./query.ts";

const ProjectId = z
  .string()
  .min(1)
  .meta({ description: "Required in organizations with several projects where a name or key must be resolved" });

export const inProject = { projectId: ProjectId.optional() };

/**
 * Selectors name one thing, and what is not there is 404, in lists too. A name or key that several projects have is 400
 * `AmbiguousName`, unless `projectId` says which is meant or the caller sees but one of them. spec: wire contract §1
 */

/** One device, by id or by name; the id wins. `device.id` and `device.name` are deprecated names of the same. */
export const byDevice = {
  deviceId: withAliases(z.string().optional(), ["device.id"]),
  deviceName: withAliases(z.string().optional(), ["device.name"]),
};

/** Copies of one file at the edge share its key until one is imported. */
const RecordingKeySelector = z
  .string()
  .min(1)
  .meta({ description: "The imported recording with this key, else the oldest" });

/** One recording, by id or by key; the id wins. */
export const byRecording = { recordingId: z.string().min(1).optional(), recordingKey: RecordingKeySelector.optional() };

/** One session, by id or by key; the id wins. */
export const bySession = { sessionId: z.string().optional(), sessionKey: z.string().min(1).optional() };
