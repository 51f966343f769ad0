import { episodeTables } from "./episode-dataset.ts";
import { importTables } from "./import-dataset.ts";
import { deviceOfSession, recordingTables } from "./recording-dataset.ts";
import { id, idOf, owner, pick, type Size, START_NS, type Table } from "./seed-sql.ts";

/** The time between the starts of two consecutive events, of any devices. */
export const EVENT_EVERY_NS = 31_000_000_000n;
/** This device has every tenth event and property interval, like the busiest robot of a fleet. */
export const BUSY_DEVICE_ID = deviceId(1);

const reasons = ["estop", "collision", "low-battery", "lost-localization", "operator", "timeout", "fall", "slip"];
const places = ["gate", "dock", "aisle", "elevator", "charger", "ramp"];
const verbs = ["stopped", "slipped", "waited", "turned", "stalled"];

export function deviceId(number: number): string {
  return idOf("dev", number);
}

export function eventId(number: number): string {
  return idOf("evt", number);
}

export function dataset(size: Size): Table[] {
  return [
    { table: "Device", sql: devices(size) },
    { table: "DeviceToken", sql: deviceTokens(size) },
    { table: "Credential", sql: credentials(size) },
    { table: "CustomProperty", sql: customProperties(size) },
    { table: "DevicePropertyInterval", sql: intervals(size) },
    { table: "EventType", sql: eventTypes(size) },
    { table: "Event", sql: events(size) },
    { table: "Session", sql: sessions(size) },
    ...recordingTables(size),
    ...importTables(size),
    ...episodeTables(size, { startNs: START_NS, endNs: START_NS + BigInt(size.events) * EVENT_EVERY_NS }),
  ];
}

/** A tenth has no battery. Names do not sort as ids do. */
function devices(size: Size): string {
  return `INSERT INTO "Device" (id, "orgId", "projectId", name, properties, "createdAtNs", "updatedAtNs")
    SELECT ${id("dev", "i")}, ${owner(size)}, 'rover-' || substr(md5(i::text), 1, 4) || '-' || i,
      jsonb_build_object('fleet', 'fleet-' || i % 20, 'serial', md5(i::text), 'autonomous', i % 3 = 0,
        'tags', jsonb_build_array('tag-' || i % 7, 'tag-' || i % 11))
      || CASE WHEN i % 10 = 0 THEN '{}' ELSE jsonb_build_object('battery', i * 7919 % 1000 / 10.0) END,
      ${START_NS} + i, ${START_NS} + i
    FROM generate_series(1, ${size.devices}) i`;
}

function deviceTokens(size: Size): string {
  return `INSERT INTO "DeviceToken" (id, "orgId", "projectId", "deviceId", "createdAtNs")
    SELECT ${id("dt", "i")}, ${owner(size)}, ${id("dev", "i")}, ${START_NS} + i
    FROM generate_series(1, ${size.devices}) i`;
}

function credentials(size: Size): string {
  return `INSERT INTO "Credential" ("tokenSha256", "deviceTokenId")
    SELECT md5(i::text), ${id("dt", "i")} FROM generate_series(1, ${size.devices}) i`;
}

/** Properties that values use, and many that none does: a search for each of these finds nothing. */
function customProperties(size: Size): string {
  const used = [
    ...["fleet", "serial", "autonomous", "tags", "battery"].map((key) => ["device", key]),
    ...["severity", "zone"].map((key) => ["event", key]),
    ...["site", "shift"].map((key) => ["session", key]),
  ];
  const types: Record<string, string> = { battery: "number", severity: "number", autonomous: "boolean" };
  const rows = used.map(([resource, key]) => `('${resource}', '${key}', '${types[key!] ?? "string"}')`);
  return `INSERT INTO "CustomProperty" (id, "orgId", key, label, "resourceType", "valueType", "enumValues", "createdAtNs")
    SELECT ${id("cp", "row_number() OVER ()")}, '${size.orgId}', key, key, resource, type, '{}',
      ${START_NS} + row_number() OVER ()
    FROM (
      SELECT * FROM (VALUES ${rows.join(", ")}) AS used(resource, key, type) UNION ALL
      SELECT ${pick(["device", "event", "session"], "i")}, 'unused-' || i, 'string'
      FROM generate_series(1, ${size.unusedProperties}) i) AS defined`;
}

/** Each device has the values of three keys one after another, an hour each; the last one is still in effect. */
function intervals({ orgId, devices: deviceCount, intervals: count }: Size): string {
  const busy = Math.floor(count / 10);
  const keys = pick(["fleet", "battery", "serial"], "n");
  return `INSERT INTO "DevicePropertyInterval" (id, "orgId", "deviceId", key, value, "startNs", "endNs")
    SELECT ${id("dpi", "row_number() OVER ()")}, '${orgId}', ${id("dev", "device")}, ${keys},
      to_jsonb('value-' || n * 31 % 1000), ${START_NS} + n / 3 * 3600000000000,
      CASE WHEN n + 3 < total THEN ${START_NS} + (n / 3 + 1) * 3600000000000 END
    FROM (
      SELECT 1 AS device, n::bigint, ${busy} AS total FROM generate_series(0, ${busy - 1}) n UNION ALL
      SELECT 2 + i % ${deviceCount - 1}, i::bigint / ${deviceCount - 1}, ${Math.ceil((count - busy) / (deviceCount - 1))}
      FROM generate_series(0, ${count - busy - 1}) i) AS spans`;
}

function eventTypes({ orgId }: Size): string {
  return `INSERT INTO "EventType" (id, "orgId", name, "createdAtNs", "updatedAtNs")
    SELECT 'evtt_' || i, '${orgId}', 'type ' || i, ${START_NS} + i, ${START_NS} + i FROM generate_series(1, 20) i`;
}

/** Events last seconds, and one of a thousand up to an hour; they were created within an hour and changed within two days. */
function events(size: Size): string {
  return `INSERT INTO "Event" (id, "orgId", "projectId", "deviceId", "eventTypeId", "startNs", "endNs", metadata, properties,
      "createdAtNs", "updatedAtNs")
    SELECT ${id("evt", "i")}, ${owner(size)}, ${id("dev", "device")},
      CASE WHEN i % 2 = 0 THEN 'evtt_' || 1 + i / 2 % 20 END,
      start, start + (random() * CASE WHEN i % 1000 = 0 THEN 3600e9 ELSE 20e9 END)::bigint,
      jsonb_build_object('reason', ${pick(reasons, "i")}, 'run', 'run-' || i,
        'note', 'robot ' || ${pick(verbs, "i / 3")} || ' near ' || ${pick(places, "i / 7")} || ' ' || i % 300),
      jsonb_build_object('severity', i % 5, 'zone', 'zone-' || i / 13 % 100),
      start + i % 3600 * 1000000000, start + i * 7919 % 172800 * 1000000000
    FROM (
      SELECT i, ${START_NS} + i * ${EVENT_EVERY_NS} AS start,
        CASE WHEN i % 10 = 0 THEN 1 ELSE 1 + floor(random() * ${size.devices})::int END AS device
      FROM generate_series(1::bigint, ${size.events}) i) AS spread`;
}

function sessions(size: Size): string {
  return `INSERT INTO "Session" (id, "orgId", "projectId", "deviceId", key, properties, "createdAtNs", "updatedAtNs")
    SELECT ${id("sess", "i")}, ${owner(size)}, ${id("dev", deviceOfSession("i", size))},
      CASE WHEN i % 2 = 0 THEN 'run ' || substr(md5(i::text), 1, 8) || ' ' || i END,
      jsonb_build_object('site', 'site-' || i % 500, 'shift', ${pick(["early", "late", "night"], "i")}),
      ${START_NS} + i * ${sessionEveryNs(size)}, ${START_NS} + i * ${sessionEveryNs(size)} + i * 7919 % 86400 * 1000000000
    FROM generate_series(1::bigint, ${size.sessions}) i`;
}

function sessionEveryNs({ events, sessions }: Size): bigint {
  return (EVENT_EVERY_NS * BigInt(events)) / BigInt(sessions);
}
