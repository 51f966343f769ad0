import { withAliases } from "./query.ts";
import { Id, StorableText } from "./text.ts";

/** The name or key by which people know a thing. */
const Key = StorableText.min(1);

const ProjectId = Id.meta({
  description: "Required in organizations with several projects where a name or key must be resolved",
});

export const inProject = { projectId: ProjectId.optional() };

/**
 * Selectors name one thing, and what is not there is 404, in lists too. A name or key that several projects have is 400
 * `AmbiguousName`, unless `projectId` says which is meant or the caller sees but one of them. spec: wire contract §1
 */

/** One device, by id or by name; the id wins. `device.id` and `device.name` are deprecated names of the same. */
export const byDevice = {
  deviceId: withAliases(Id.optional(), ["device.id"]),
  deviceName: withAliases(Key.optional(), ["device.name"]),
};

/** The same fields for lists whose things may have no device. An empty id selects those. */
export const byDeviceOrNone = {
  ...byDevice,
  deviceId: withAliases(StorableText.optional().meta({ description: "An empty text: of no device" }), ["device.id"]),
};

/** Copies of one file at the edge share its key until one of them is imported. */
const RecordingKeySelector = Key.meta({ description: "The imported recording with this key, else the oldest" });

/** One recording, by id or by key; the id wins. */
export const byRecording = { recordingId: Id.optional(), recordingKey: RecordingKeySelector.optional() };

/** One session, by id or by key; the id wins. */
export const bySession = { sessionId: Id.optional(), sessionKey: Key.optional() };

/** The same fields for lists whose things may have no session. An empty id selects those. */
export const bySessionOrNone = {
  ...bySession,
  sessionId: StorableText.optional().meta({ description: "An empty text: of no session" }),
};
