import { BUSY_DEVICE_ID } from "./dataset.ts";
import { HOUR_NS, type List, lateOffset, QUIET_DEVICE_ID, timeOf } from "./filtered-list.ts";
import { edgeSiteId, RECORDING_EVERY_NS, recordingId, sessionIdOfRecording } from "./recording-dataset.ts";
import type { Seeded } from "./seed.ts";

export function coverage({ counts }: Seeded): List {
  const start = (BigInt(counts.recordings) * RECORDING_EVERY_NS) / HOUR_NS / 2n;
  const until = (days: bigint) => ({ start: timeOf(start), end: timeOf(start + days * 24n) });
  const [day, week, month, year] = [until(1n), until(7n), until(30n), until(365n)];
  const edge = { includeEdgeRecordings: "true" };
  return {
    path: "/v1/data/coverage",
    filters: {
      "fleet, a day": day,
      "fleet, a week": week,
      "fleet, a week, edge": { ...week, ...edge },
      "fleet, a week, edge, an hour's tolerance": { ...week, ...edge, tolerance: "3600" },
      "busy device, a month": { deviceId: BUSY_DEVICE_ID, ...month },
      "busy device, a month, edge": { deviceId: BUSY_DEVICE_ID, ...month, ...edge },
      "quiet device, a month": { deviceId: QUIET_DEVICE_ID, ...month },
      "quiet device, a month, edge": { deviceId: QUIET_DEVICE_ID, ...month, ...edge },
      "quiet device, a year, edge": { deviceId: QUIET_DEVICE_ID, ...year, ...edge },
      "recording, a year": { recordingId: recordingId(counts.recordings / 2), ...year },
      "session, a year": { sessionId: sessionIdOfRecording(counts.recordings / 2, counts), ...year },
    },
  };
}

/** A page of the coverage of a fleet, with as many bins as a screen has columns. */
export function coverageGrid({ counts }: Seeded): List {
  const middle = (BigInt(counts.recordings) * RECORDING_EVERY_NS) / HOUR_NS / 2n;
  const window = (days: bigint) => ({
    start: timeOf(middle),
    binNs: String((days * 24n * HOUR_NS) / 1024n),
    limit: "64", // an own limit, in place of the usual ones
  });
  const quiet = { offset: "100" };
  return {
    path: "/v1/data/coverage-grid",
    filters: {
      "64 devices, a day": { ...window(1n), ...quiet },
      "64 devices, a year": { ...window(365n), ...quiet },
      "64 devices, three years": { ...window(1096n), ...quiet, start: timeOf(0n) },
      "64 devices with the busy one, a year": window(365n),
      "devices of a fleet, a year": { ...window(365n), query: "properties.fleet:fleet-7" },
    },
  };
}

export function attachments({ projectId, primarySiteId, counts }: Seeded): List {
  return {
    path: "/v1/recording-attachments",
    sortKeys: ["logTime"],
    filters: {
      none: {},
      project: { projectId },
      site: { siteId: primarySiteId },
      "site of none": { siteId: edgeSiteId(2) },
      "busy device": { deviceId: BUSY_DEVICE_ID },
      "quiet device": { deviceId: QUIET_DEVICE_ID },
      "device by name": { deviceName: "rover-8f14-7" },
      recording: { recordingId: recordingId(40) },
      session: { sessionId: sessionIdOfRecording(40, counts) },
      "offset 90 %": { offset: lateOffset(counts.recordings / 20) },
    },
  };
}
