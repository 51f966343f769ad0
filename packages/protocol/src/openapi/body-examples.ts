import { exampleId } from "./openapi-example.ts";

const [projectId, deviceId] = [exampleId("prj"), exampleId("dev")];
const recordingIds = [exampleId("rec")];
const span = { start: "2026-01-02T03:04:05Z", end: "2026-01-02T03:05:05Z" };
const export_ = { recordingId: recordingIds[0], ...span, topics: ["/imu", "/camera/front"], outputFormat: "mcap" };
const expiresAt = "2036-01-02T03:04:05Z";
const layout = { name: "Driving", folderName: "Shared", permission: "ORG_WRITE", data: { panels: ["map", "plot"] } };

/**
 * The body that the document shows for an operation whose fields do not all go together, or do not say enough by their names. The other
 * bodies follow from their schemas. A test sends each, with the ids of things that exist.
 */
export const bodyExamples: Readonly<Record<string, unknown>> = {
  "projects.create": { name: "Field tests" },
  "projects.update": { name: "Field tests of 2026", isInviteOnly: false },
  "apiKeys.create": {
    ...{ name: "dashboard", capabilities: ["recordings.list", "data.stream"], projectIds: [projectId], expiresAt },
  },
  "apiKeys.update": { name: "dashboard", enabled: true, capabilities: ["recordings.list"] },
  "devices.create": { name: "rover-2", properties: {}, projectId },
  "devices.update": { name: "rover-3", autoDeleteAfterImport: false, retainRecordingsSeconds: 2_592_000 },
  "devices.setPastProperty": { key: "color", value: "blue", ...span, projectId },
  "agentSettings.put": { autoImport: ["**/incident-*.mcap"], uploadRate: "2MB/s", uploadConcurrency: 2 },
  "agentSettings.putOfSite": { autoImport: ["**/incident-*.mcap"], uploadRate: "2MB/s", uploadConcurrency: 2 },
  "deviceTokens.create": { deviceId, expiresAt },
  "customProperties.create": {
    ...{ key: "terrain", label: "Terrain", resourceType: "session", valueType: "enum", enumValues: ["road", "field"] },
  },
  "customProperties.update": { label: "Colour of the hull" },
  "events.create": { deviceId, ...span, metadata: { reason: "estop" }, properties: {}, projectId },
  "events.update": { ...span, metadata: { reason: "fall" } },
  "eventTypes.create": { name: "Stop", colorName: "red", customProperties: [] },
  "eventTypes.update": { name: "Emergency stop", colorName: "red" },
  "sessions.create": { deviceId, key: "drive-2", recordingIds, properties: {}, projectId },
  "sessions.update": { key: "drive-3", addRecordingIds: recordingIds },
  "uploads.create": {
    filename: "drive-4.mcap",
    deviceId,
    key: "2026-01-02/drive-4.mcap",
    sessionKey: "drive-4",
    projectId,
  },
  "exports.create": export_,
  "viewLinks.create": { ...export_, lifeSeconds: 600 },
  "datasets.create": {
    projectId,
    name: "places",
    description: "Where the gripper let go",
    episodeIds: [exampleId("ep")],
  },
  "datasets.update": { name: "pick-and-place-2", description: "Both hands" },
  "datasets.changeEpisodes": { add: [exampleId("ep")], remove: [] },
  "sites.create": { name: "Plant 2", type: "edge", retainRecordingsSeconds: 2_592_000, projectIds: [projectId] },
  "sites.update": { name: "Plant 3", projectIds: [projectId] },
  "siteTokens.create": { siteId: exampleId("site"), expiresAt },
  "inboxTokens.create": { siteId: exampleId("site"), expiresAt },
  "ingestPathPolicies.save": {
    schemaVersion: 1,
    rules: [
      { pattern: "robots/*/**", action: { type: "import", nameTemplate: "robot-{1}" } },
      { pattern: "**", action: { type: "ignore" } },
    ],
    previousRevision: 0,
  },
  "layouts.create": layout,
  "layouts.update": layout,
  "webhooks.create": {
    name: "pipeline",
    url: "https://example.org/hooks",
    eventTypes: ["recording.imported"],
    projectId,
  },
  "webhooks.update": { eventTypes: ["recording.imported", "recording.importFailed"], enabled: true },
  "session.begin": { email: "ann@example.org", password: "correct horse battery" },
};
