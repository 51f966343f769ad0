import { id, idOf, owner, pick, type Size, START_NS, type Table } from "./seed-sql.ts";

/** The time between the starts of two consecutive recordings, of any devices: full size takes three years. */
export const RECORDING_EVERY_NS = 94_600_000_000n;
export const TOPICS = 50;
/** So many topics changed their schema in the middle of the time. */
const CHANGED_TOPICS = 10;
/** Only one recording has this topic. */
export const RARE_TOPIC = "/rare";
export const EDGE_SITES = 3;

const operators = ["ann", "bob", "cem", "dora", "eve", "finn", "gita", "hugo"];
const places = ["gate", "dock", "aisle", "elevator", "charger", "ramp"];
const kinds = ["/camera", "/lidar", "/imu", "/odometry", "/gps"];

export function recordingId(number: number): string {
  return idOf("rec", number);
}

export function edgeSiteId(number: number): string {
  return idOf("site", number);
}

export function sessionIdOfRecording(number: number, { sessions }: Pick<Size, "sessions">): string {
  return idOf("sess", 1 + ((Math.floor(number / 20) * 3) % sessions));
}

/** Returns as SQL text the device of a session, which is that of its recordings too. */
export function deviceOfSession(session: string, { recordedDevices }: Size): string {
  return `1 + (${session}) % ${recordedDevices}`;
}

export function recordingTables(size: Size): Table[] {
  return [
    { table: "Site", sql: edgeSites(size) },
    { table: "Agent", sql: agents(size) },
    { table: "SchemaText", sql: schemaTexts(size) },
    { table: "Recording", sql: recordings(size) },
    { table: "EdgeFile", sql: edgeFiles() },
    { table: "RecordingTopic", sql: topics(size) },
    { table: "RecordingAttachment", sql: attachments(size) },
  ];
}

function edgeSites({ orgId }: Size): string {
  return `INSERT INTO "Site" (id, "orgId", name, type, "createdAtNs")
    SELECT ${id("site", "i")}, '${orgId}', 'edge ' || i, 'edge', ${START_NS} + i FROM generate_series(1, ${EDGE_SITES}) i`;
}

function agents(size: Size): string {
  return `INSERT INTO "Agent" (id, "orgId", "projectId", "deviceId", "leaseNumber", "leaseInstanceId", "leaseExpiresAtNs",
      "machineId", "agentVersion", facts, "lastSeenAtNs")
    SELECT ${id("agt", "i")}, ${owner(size)}, ${id("dev", "i")}, 1, md5(i::text), ${START_NS}, md5('m' || i), '1.0.0',
      '{"host": {"hostname": "robot", "platform": "linux", "arch": "x64"}, "clockSkewMs": 0}', ${START_NS}
    FROM generate_series(1, ${size.recordedDevices}) i`;
}

function schemaTexts({ orgId }: Size): string {
  return `INSERT INTO "SchemaText" ("orgId", sha256, data)
    SELECT '${orgId}', encode(sha256(i::text::bytea), 'hex'), convert_to(repeat('float64 value_' || i || E'\\n', 40), 'UTF8')
    FROM generate_series(1, ${TOPICS + CHANGED_TOPICS}) i`;
}

/**
 * Recordings of five seconds to an hour, reported within a day and imported within a week. A tenth is of one device, a tenth in sessions,
 * two of each; a twentieth, without a device, was uploaded. Recordings that are not `complete` are at the edge; so is half of the others,
 * and a tenth of those at an edge site.
 */
function recordings(size: Size): string {
  return `INSERT INTO "Recording" (id, "orgId", "projectId", "deviceId", "sessionId", "siteId", "edgeSiteId", path, "sizeBytes",
      "startNs", "endNs", "durationNs", key, format, "messageCount", metadata, "createdAtNs", "importStatus", "importedAtNs",
      "importId", "contentSha256", "blobKey", "isEdge", "failureCode", "failureText")
    SELECT ${id("rec", "i")}, ${owner(size)},
      CASE WHEN device > 0 THEN ${id("dev", "device")} END, CASE WHEN session > 0 THEN ${id("sess", "session")} END,
      CASE WHEN status = 'complete' THEN primary_site END,
      CASE WHEN is_edge AND i * 7919 % 10 = 0 THEN ${id("site", `1 + i % ${EDGE_SITES}`)} END,
      to_char(to_timestamp(start / 1000000000), 'YYYY/MM/DD/') || 'run ' || i || '.mcap', duration / 250,
      start, start + duration, duration,
      CASE WHEN i % 2 = 0 THEN 'run/' || substr(md5(i::text), 1, 8) || '/' || i END, 'mcap', duration / 10000000,
      ${metadata()}, created, status,
      CASE WHEN status = 'complete' THEN created + i * 31 % 604800 * 1000000000 END,
      CASE WHEN status = 'complete' THEN ${id("imp", "i")} END,
      CASE WHEN status = 'complete' THEN encode(sha256(i::text::bytea), 'hex') END,
      CASE WHEN status = 'complete' THEN '${size.orgId}/' || ${id("upl", "i")} END, is_edge,
      CASE WHEN status = 'failed' THEN 'Damaged' END, CASE WHEN status = 'failed' THEN 'it ends within a chunk' END
    FROM (${spread(size)}) AS spread,
      (SELECT id AS primary_site FROM "Site" WHERE "orgId" = '${size.orgId}' AND type = 'service-hosted') AS site`;
}

/** Returns the number, device, session, status and time of each recording. */
function spread(size: Size): string {
  const status = `CASE WHEN percent < 60 OR i % 20 = 7 THEN 'complete' WHEN percent < 95 THEN 'none'
    WHEN percent < 98 THEN 'failed' WHEN percent < 99 THEN 'pending' ELSE 'importing' END`;
  const device = `CASE WHEN i % 20 = 7 THEN 0 WHEN session > 0 THEN ${deviceOfSession("session", size)} WHEN i % 10 = 1 THEN 1
    ELSE 1 + floor(random() * ${size.recordedDevices})::int END`;
  return `SELECT *, status <> 'complete' OR (device > 0 AND percent % 2 = 0) AS is_edge,
      start + duration + i * 7919 % 86400 * 1000000000 AS created
    FROM (
      SELECT i, session, ${device} AS device, ${status} AS status, percent, ${START_NS} + i * ${RECORDING_EVERY_NS} AS start,
        (5e9 * power(720, random()))::bigint AS duration
      FROM (
        SELECT i, i * 7919 / 13 % 100 AS percent,
          CASE WHEN i % 10 = 0 THEN 1 + i / 20 * 3 % ${size.sessions} ELSE 0 END AS session
        FROM generate_series(1::bigint, ${size.recordings}) i) AS numbered OFFSET 0) AS drawn`;
}

/** Each recording has one record, and every second one has another. */
function metadata(): string {
  const run = `jsonb_build_object('operator', ${pick(operators, "i")}, 'run', 'run-' || i,
    'note', 'tour ' || i % 300 || ' past the ' || ${pick(places, "i / 7")})`;
  const vehicle = "jsonb_build_object('software', 'v1.' || i / 7919 || '.0', 'map', 'map-' || i / 13 % 200)";
  return `jsonb_build_array(jsonb_build_object('name', 'run', 'metadata', ${run})) || CASE WHEN i % 2 = 0
    THEN jsonb_build_array(jsonb_build_object('name', 'vehicle', 'metadata', ${vehicle})) ELSE '[]' END`;
}

function edgeFiles(): string {
  return `INSERT INTO "EdgeFile" (id, "orgId", "projectId", "agentId", "deviceId", "versionId", path, "sizeBytes", "modifiedAtNs",
      "headTailSha256", state, "reportedAtNs", "firstReportedAtNs", "recordingId")
    SELECT 'ef' || substr(id, 4), "orgId", "projectId", 'agt' || substr("deviceId", 4), "deviceId", substr(md5(id), 1, 24), path,
      "sizeBytes", "endNs", md5(id) || md5(path), 'indexed', "createdAtNs", "createdAtNs", id
    FROM "Recording" WHERE "isEdge"`;
}

/** Each recording has two or three topics. */
function topics({ recordings: count }: Size): string {
  const topic = `(base + n * 17) % ${TOPICS}`;
  const version = `CASE WHEN ${topic} < ${CHANGED_TOPICS} AND i > ${count / 2} THEN ${TOPICS} ELSE 0 END + ${topic} + 1`;
  const sha256 = `encode(sha256((${version})::text::bytea), 'hex')`;
  return `INSERT INTO "RecordingTopic" ("recordingId", topic, version, "messageEncoding", "schemaName", "schemaEncoding",
      "schemaSha256", "messageCount", "startNs", "endNs", "importedProjectId", "importedDeviceId", "importedStartNs", "importedEndNs")
    SELECT r.id, CASE WHEN i = ${count / 2} AND n = 0 THEN '${RARE_TOPIC}' ELSE ${pick(kinds, topic)} || '/' || ${topic} END,
      substr(${sha256}, 1, 16), 'cdr', 'msgs/Type' || ${topic}, 'ros2msg', ${sha256}, 1000, r."startNs", r."endNs",
      imported."projectId", imported."deviceId", imported."startNs", imported."endNs"
    FROM (SELECT i, floor(random() * ${TOPICS})::int AS base FROM generate_series(1, ${count}) i OFFSET 0) AS drawn
    JOIN "Recording" r ON r.id = ${id("rec", "i")}
    LEFT JOIN "Recording" imported ON imported.id = r.id AND imported."importStatus" = 'complete'
    CROSS JOIN generate_series(0, 1 + i % 2) n`;
}

function attachments({ recordings: count }: Size): string {
  return `INSERT INTO "RecordingAttachment" (id, "recordingId", name, "mediaType", "logTimeNs", "createTimeNs", crc, "dataOffset",
      "sizeBytes", fingerprint, "siteId", "orgId", "projectId", "deviceId")
    SELECT ${id("att", "i")}, r.id, 'calibration-' || i || '.yaml', 'application/yaml', r."startNs", r."startNs", i, 1000, 5000,
      CASE WHEN r."importStatus" = 'complete' THEN md5((i % 1000)::text) END, r."siteId", r."orgId", r."projectId", r."deviceId"
    FROM generate_series(20, ${count}, 20) i JOIN "Recording" r ON r.id = ${id("rec", "i")}`;
}
