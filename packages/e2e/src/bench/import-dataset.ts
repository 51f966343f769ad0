import { id, idOf, pick, type Size, START_NS, type Table } from "./seed-sql.ts";

/** The time between the starts of two consecutive imports. */
export const IMPORT_EVERY_NS = 94_600_000_000n;
/** This project has a thousandth of the imports. */
export const SMALL_PROJECT_ID = idOf("prj", 2);
/** A fifth of all imports have this name, because recorders name their files alike. */
export const COMMON_FILENAME = "recording.mcap";

const reasons = [
  "Device not found: dev_0",
  "the file ends within a chunk",
  "the file holds no message",
  "it is no recording",
];

export function requestId(number: number): string {
  return idOf("req", number);
}

/** Makes the import requests, of which nine in ten are complete, and their imports. */
export function importTables(size: Size): Table[] {
  return [
    { table: "Project", sql: smallProject(size) },
    { table: "ImportRequest", sql: requests(size) },
    { table: "Import", sql: imports(size) },
  ];
}

function smallProject({ orgId }: Size): string {
  return `INSERT INTO "Project" (id, "orgId", name, "createdAtNs") VALUES ('${SMALL_PROJECT_ID}', '${orgId}', 'small', ${START_NS})`;
}

/**
 * In every hundred requests one waits for its bytes, one was cancelled, two are under way, one was not delivered and five are quarantined.
 * A tenth belongs to one device, a twentieth to none, and a hundredth names a device that does not exist; a tenth is in sessions.
 */
function requests(size: Size): string {
  return `INSERT INTO "ImportRequest" (id, "orgId", "projectId", "siteId", source, state, "pipelineStage", "recordingId", "deviceId",
      "deviceName", key, "sessionId", "sessionKey", filename, "isAcknowledged", "importId", "errorCode", "errorText", attempts,
      "quarantinedAtNs", "createdAtNs", "updatedAtNs")
    SELECT ${id("req", "i")}, '${size.orgId}', CASE WHEN i % 1000 = 3 THEN '${SMALL_PROJECT_ID}' ELSE '${size.projectId}' END,
      primary_site, CASE WHEN i % 3 = 0 THEN 'upload' ELSE 'edge' END, state, 'Stage', CASE WHEN state = 'complete' THEN ${id("rec", "i")} END,
      CASE WHEN device > 0 THEN ${id("dev", "device")} END,
      CASE WHEN device > 0 THEN ${deviceName("device")} WHEN i % 100 = 9 THEN 'unborn-' || i % 500 END,
      CASE WHEN i % 2 = 0 THEN 'run/' || substr(md5(i::text), 1, 8) || '/' || i END,
      CASE WHEN i % 10 = 0 THEN ${id("sess", `1 + i / 10 % ${size.sessions}`)} END,
      CASE WHEN i % 20 = 0 THEN 'run ' || i / 200 END, ${filename()}, true, CASE WHEN state = 'complete' THEN ${id("imp", "i")} END,
      CASE WHEN state = 'error' THEN 'Failed' END,
      CASE WHEN state = 'error' THEN CASE WHEN i % 3 = 0 THEN 'recording rec_' || i || ' has the key already' ELSE ${pick(reasons, "i")} END END,
      1, CASE WHEN percent BETWEEN 95 AND 99 THEN created + 1000000000 END,
      created, created + i * 7919 % 7200 * 1000000000
    FROM (${spread(size)}) AS spread,
      (SELECT id AS primary_site FROM "Site" WHERE "orgId" = '${size.orgId}' AND type = 'service-hosted') AS site`;
}

function spread({ imports: count, recordedDevices }: Size): string {
  const state = `CASE WHEN percent < 90 THEN 'complete' WHEN percent = 90 THEN 'awaiting' WHEN percent = 91 THEN 'cancelled'
    WHEN percent < 94 THEN ${pick(["received", "processing", "ready for indexing"], "i")} ELSE 'error' END`;
  const device = `CASE WHEN i % 20 = 9 THEN 0 WHEN i % 10 = 1 THEN 1 ELSE 1 + i * 31 % ${recordedDevices} END`;
  return `SELECT *, ${state} AS state, ${device} AS device, ${START_NS} + i * ${IMPORT_EVERY_NS} AS created
    FROM (SELECT i, i * 7919 / 13 % 100 AS percent FROM generate_series(1::bigint, ${count}) i) AS numbered`;
}

function imports(size: Size): string {
  return `INSERT INTO "Import" (id, "orgId", "projectId", "recordingId", "siteId", "deviceId", "deviceName", filename, "importedAtNs",
      "startNs", "endNs", format, "sizeBytes", "deletedAtNs")
    SELECT "importId", "orgId", "projectId", "recordingId", "siteId", "deviceId", "deviceName", filename, "updatedAtNs",
      "createdAtNs" - 86400000000000 - spread, "createdAtNs" - 86400000000000 - spread + 5000000000 + spread / 30, 'mcap', 1000000,
      CASE WHEN right(id, 10)::bigint % 20 = 0 THEN "updatedAtNs" + 1 END
    FROM "ImportRequest", LATERAL (SELECT right(id, 10)::bigint * 7919 % 86400 * 1000000000 AS spread) AS drawn
    WHERE "orgId" = '${size.orgId}' AND state = 'complete'`;
}

/** Returns the name of a device in the form that all devices have. */
function deviceName(device: string): string {
  return `'rover-' || substr(md5((${device})::text), 1, 4) || '-' || (${device})`;
}

function filename(): string {
  return `CASE WHEN i % 5 = 0 THEN '${COMMON_FILENAME}'
    ELSE to_char(to_timestamp(created / 1000000000), 'YYYY/MM/DD/') || 'run ' || i || '.mcap' END`;
}
