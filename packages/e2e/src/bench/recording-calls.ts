import { BUSY_DEVICE_ID, deviceId } from "./dataset.ts";
import { HOUR_NS, type List, lateOffset, QUIET_DEVICE_ID, timeOf } from "./filtered-list.ts";
import { edgeSiteId, RARE_TOPIC, RECORDING_EVERY_NS, recordingId, sessionIdOfRecording } from "./recording-dataset.ts";
import type { Seeded } from "./seed.ts";

export function recordings(seeded: Seeded): List {
  return {
    path: "/v1/recordings",
    sortKeys: ["deviceName", "createdAt", "start", "end", "duration", "path", "importedAt"],
    filters: {
      none: {},
      project: { projectId: seeded.projectId },
      ...timeFilters(seeded),
      ...pathFilters(seeded),
      ...placeFilters(seeded),
      ...contentFilters(seeded),
      ...metadataQueries,
      "a week, value of many": { metadataQuery: "operator:ann", ...times(seeded).week },
      "busy device, value of many": { metadataQuery: "operator:ann", deviceId: BUSY_DEVICE_ID },
      "offset 90 %": { offset: lateOffset(seeded.counts.recordings) },
    },
  };
}

function timeFilters(seeded: Seeded): List["filters"] {
  const { hour, week, year } = times(seeded);
  return {
    "an hour": hour,
    "a week": week,
    "a year": year,
    "from a time": { start: week.start },
    "from the first": { start: timeOf(0n) },
    "from the last": { start: timeOf((hoursOf(seeded) * 999n) / 1000n) },
    "to a time": { end: week.start },
    "to the first": { end: timeOf(hoursOf(seeded) / 1000n) },
  };
}

function pathFilters(seeded: Seeded): List["filters"] {
  return {
    "path of one": { path: "2026/01/01/run 5.mcap" },
    "path of none": { path: "nowhere" },
    "part of many paths": { pathMatches: "RUN 5" },
    "part of few paths": { pathMatches: "un 5.mc" },
    "part of no path": { pathMatches: "nowhere" },
    "two letters of no path": { pathMatches: "zq" },
    "part of paths, a week": { pathMatches: "run 5", ...times(seeded).week },
  };
}

const someDevices = Array.from({ length: 200 }, (_, number) => deviceId(number + 1)).join(",");

/** Filters by the place of the recordings, and by the device that made them. */
function placeFilters(seeded: Seeded): List["filters"] {
  const { week, year } = times(seeded);
  return {
    site: { "site.id": seeded.primarySiteId },
    "edge site": { "edgeSite.id": edgeSiteId(2) },
    "site of none": { "site.id": edgeSiteId(2) },
    "busy device": { deviceId: BUSY_DEVICE_ID },
    "quiet device": { deviceId: QUIET_DEVICE_ID },
    "200 devices": { deviceIds: someDevices },
    "200 devices, a week": { deviceIds: someDevices, ...week },
    "device by name": { deviceName: "rover-8f14-7" },
    "no device": { deviceId: "" },
    "busy device, a week": { deviceId: BUSY_DEVICE_ID, ...week },
    "quiet device, a year": { deviceId: QUIET_DEVICE_ID, ...year },
    "no device, a week": { deviceId: "", ...week },
  };
}

/** Filters by the contents of the recordings, by their import status, and by their session. */
function contentFilters(seeded: Seeded): List["filters"] {
  const { week } = times(seeded);
  return {
    "topic of few percent": { topic: "/camera/20" },
    "topic of one": { topic: RARE_TOPIC },
    "topic of none": { topic: "/nowhere" },
    "topic, a week": { topic: "/camera/20", ...week },
    "topic, quiet device": { topic: "/camera/20", deviceId: QUIET_DEVICE_ID },
    "status of most": { importStatus: "complete" },
    "status of few": { importStatus: "importing" },
    "two statuses": { importStatus: "pending,failed" },
    "status, a week": { importStatus: "none", ...week },
    "status, busy device": { importStatus: "failed", deviceId: BUSY_DEVICE_ID },
    session: { sessionId: sessionIdOfRecording(40, seeded.counts) },
    "no session": { sessionId: "" },
    "no session, a week": { sessionId: "", ...week },
  };
}

const metadataQueries = {
  "value of many": { metadataQuery: "operator:ann,bob" },
  "value of few": { metadataQuery: "map:map-7" },
  "value of one": { metadataQuery: "run:run-7" },
  "value of none": { metadataQuery: "run:none" },
  "two values": { metadataQuery: "software:v1.7.0 map:map-7" },
  "key of half": { metadataQuery: "map:*" },
  "key of none": { metadataQuery: "nothing:*" },
  "any key": { metadataQuery: "*:run-7" },
  "text of all": { metadataQuery: "tour" },
  "text of few": { metadataQuery: "run-77" },
  "text of none": { metadataQuery: "zzzzzz" },
  "two letters": { metadataQuery: "zq" },
} as const;

export function topics(seeded: Seeded): List {
  const { projectId, counts } = seeded;
  const { hour, week, year } = times(seeded);
  return {
    path: "/v1/data/topics",
    sortKeys: ["topic", "version"],
    filters: {
      none: {},
      schemas: { includeSchemas: "true" },
      project: { projectId },
      recording: { recordingId: recordingId(8) },
      "an hour": hour,
      "a week": week,
      "a year": year,
      "from a time": { start: week.start },
      "to a time": { end: week.start },
      "busy device": { deviceId: BUSY_DEVICE_ID },
      "quiet device": { deviceId: QUIET_DEVICE_ID },
      "busy device, an hour": { deviceId: BUSY_DEVICE_ID, ...hour },
      "busy device, a week": { deviceId: BUSY_DEVICE_ID, ...week },
      "busy device, a year": { deviceId: BUSY_DEVICE_ID, ...year },
      "quiet device, a year": { deviceId: QUIET_DEVICE_ID, ...year },
      session: { sessionId: sessionIdOfRecording(40, counts) },
    },
  };
}

/** Returns times from the middle of all recordings. */
function times(seeded: Seeded) {
  const start = hoursOf(seeded) / 2n;
  const until = (hours: bigint) => ({ start: timeOf(start), end: timeOf(start + hours) });
  return { hour: until(1n), week: until(168n), year: until(8760n) };
}

function hoursOf({ counts }: Seeded): bigint {
  return (BigInt(counts.recordings) * RECORDING_EVERY_NS) / HOUR_NS;
}
