import { problemTexts } from "../diagnostics/problems.ts";
import type { StatusDocument } from "../status/status-schema.ts";

/** When {@link healthyStatus} was taken. */
export const sampleTimeMs = Date.parse("2026-01-02T03:04:05Z");

/** A robot on which all is well, with one upload under way. */
export const healthyStatus: StatusDocument = {
  version: 1,
  health: "healthy",
  agent: { version: "0.1.0", pid: 42, startedAt: "2026-01-02T01:04:05Z" },
  device: { id: "dev_1", name: "rover-1", projectId: "prj_1", projectName: "field tests", orgId: "org_1" },
  site: { id: null, name: null },
  apiUrl: "https://downlink.example",
  stateDir: "/var/lib/downlink-agent",
  connection: {
    ...{ state: "connected", since: "2026-01-02T03:03:05Z", lastContactAt: "2026-01-02T03:04:00Z" },
    ...{ clockSkewMs: -3_700_000, lastError: null },
  },
  storage: {
    ...{ root: "/data", isPresent: true, totalBytes: 64e9, usedBytes: 48.5e9, freeBytes: 12.3e9, fullInSeconds: null },
    ...{ lastScanAt: "2026-01-02T03:04:00Z", lastScanMs: 12 },
  },
  files: { reported: 120, requested: 3, incomplete: 1 },
  transfers: [{ path: "cam/one.mcap", sizeBytes: 1000, sentBytes: 450, bytesPerSecond: 12_300_000, secondsLeft: 130 }],
  retries: [],
  throttle: { isPaused: false, text: null, bytesPerSecond: null, until: null, interface: null, isSlowLink: false },
  pause: { by: null, since: null, until: null },
  deletions: {
    planned: [],
    nextPath: null,
    waiting: { files: 0, text: null },
    heldUntil: null,
    deletedFiles: 0,
    last: [],
  },
  counters: { uploadedBytes: 0, uploadedFiles: 0, failedTries: 0, scans: 7 },
  problems: [],
};

export function problem(code: keyof typeof problemTexts, detail: string): StatusDocument["problems"][number] {
  return { code, ...problemTexts[code], detail, since: "2026-01-02T03:03:35Z" };
}
