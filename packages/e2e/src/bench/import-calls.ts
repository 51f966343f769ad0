import { BUSY_DEVICE_ID } from "./dataset.ts";
import { HOUR_NS, type List, lateOffset, QUIET_DEVICE_ID, timeOf } from "./filtered-list.ts";
import { COMMON_FILENAME, IMPORT_EVERY_NS, requestId, SMALL_PROJECT_ID } from "./import-dataset.ts";
import type { Seeded } from "./seed.ts";
import { idOf } from "./seed-sql.ts";

export function pendingImports(seeded: Seeded): List[] {
  const hours = hoursOf(seeded);
  const filters = {
    none: {},
    project: { projectId: seeded.projectId },
    "small project": { projectId: SMALL_PROJECT_ID },
    request: { requestId: requestId(94) },
    "key of one": { key: "run/4c56ff4c/90" },
    "key of none": { key: "nowhere" },
    "busy device": { deviceId: BUSY_DEVICE_ID },
    "quiet device": { deviceId: QUIET_DEVICE_ID },
    "device by name": { deviceName: "rover-8f14-7" },
    "device that is gone": { deviceName: "unborn-9" },
    "error of many": { error: "it is no recording" },
    "error of none": { error: "nothing" },
    "file name of many": { filename: COMMON_FILENAME },
    "file name of one": { filename: "2026/01/01/run 7.mcap" },
    "file name of none": { filename: "nowhere" },
    "updated lately": { updatedSince: timeOf((hours * 999n) / 1000n) },
    "updated since the middle": { updatedSince: timeOf(hours / 2n) },
    "updated since the first": { updatedSince: timeOf(0n) },
    site: { siteId: seeded.primarySiteId },
    "site of none": { siteId: idOf("site", 2) },
    session: { sessionId: idOf("sess", 8) },
    "session key": { sessionKey: "run 7" },
    "with project": { hasProjectId: "true" },
    "without project": { hasProjectId: "false" },
    "offset 90 %": { offset: lateOffset(seeded.counts.imports / 50) },
  };
  const sets = {
    "": {},
    "with quarantined, ": { showQuarantined: "true" },
    "with complete, ": { showCompleted: "true" },
    "with all, ": { showCompleted: "true", showQuarantined: "true" },
  };
  return Object.entries(sets).map(([named, shown]) => ({
    path: "/v1/data/pending-imports",
    sortKeys: ["createdAt", "deviceId", "deviceName", "error", "importId", "requestId", "updatedAt"],
    filters: Object.fromEntries(Object.entries(filters).map(([name, query]) => [named + name, { ...shown, ...query }])),
  }));
}

export function importErrors({ projectId, counts }: Seeded): List {
  return {
    path: "/v1/data/import-errors",
    sortKeys: ["createdAt", "deviceName", "error", "requestId", "updatedAt"],
    filters: {
      none: {},
      project: { projectId },
      "small project": { projectId: SMALL_PROJECT_ID },
      "busy device": { deviceId: BUSY_DEVICE_ID },
      "quiet device": { deviceId: QUIET_DEVICE_ID },
      "device by name": { deviceName: "rover-8f14-7" },
      "error of many": { error: "it is no recording" },
      "error of none": { error: "nothing" },
      "part of all names": { filenameMatches: ".mcap" },
      "part of few names": { filenameMatches: "RUN 7771" },
      "part of no name": { filenameMatches: "nowhere" },
      "two letters": { filenameMatches: "zq" },
      "session key": { sessionKey: "run 7" },
      "without project": { hasProjectId: "false" },
      "offset 90 %": { offset: lateOffset(counts.imports / 20) },
    },
  };
}

export function imports(seeded: Seeded): List {
  const hours = hoursOf(seeded);
  const [middle, hour] = [timeOf(hours / 2n), timeOf(hours / 2n + 1n)];
  return {
    path: "/v1/data/imports",
    sortKeys: ["importId", "deviceId", "importTime", "dataStart", "dataEnd"],
    filters: {
      none: {},
      "with deleted": { includeDeleted: "true" },
      project: { projectId: seeded.projectId },
      "small project": { projectId: SMALL_PROJECT_ID },
      "busy device": { deviceId: BUSY_DEVICE_ID },
      "quiet device": { deviceId: QUIET_DEVICE_ID },
      "device by name": { deviceName: "rover-8f14-7" },
      "file name of many": { filename: COMMON_FILENAME },
      "file name of one": { filename: "2026/01/01/run 7.mcap" },
      "file name of none": { filename: "nowhere" },
      "imported within an hour": { start: middle, end: hour },
      "imported from a time": { start: middle },
      "imported to a time": { end: middle },
      "data within an hour": { dataStart: middle, dataEnd: hour },
      "data from a time": { dataStart: middle },
      "data to a time": { dataEnd: middle },
      "busy device, data within an hour": { deviceId: BUSY_DEVICE_ID, dataStart: middle, dataEnd: hour },
      "offset 90 %": { offset: lateOffset(seeded.counts.imports) },
    },
  };
}

function hoursOf({ counts }: Seeded): bigint {
  return (BigInt(counts.imports) * IMPORT_EVERY_NS) / HOUR_NS;
}
