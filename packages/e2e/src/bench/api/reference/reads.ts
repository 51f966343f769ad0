import { parseTimestamp } from "@downlink/protocol";
import type { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import type { Pool } from "pg";
import { authenticate } from "./authenticate.ts";
import {
  DEVICE_COLUMNS,
  DEVICE_TABLES,
  type DeviceRow,
  EVENT_COLUMNS,
  EVENT_TABLES,
  type EventRow,
  RECORDING_COLUMNS,
  RECORDING_TABLES,
  type RecordingRow,
  time,
  toDevice,
  toEvent,
  toRecording,
} from "./rows.ts";
import { type Int8, statement } from "./statement.ts";

const getDevice = statement<DeviceRow>(
  "device",
  `SELECT ${DEVICE_COLUMNS} FROM ${DEVICE_TABLES} WHERE d."orgId" = $1 AND (d.id = $2 OR d.name = $2)`,
);
const getEvent = statement<EventRow>(
  "event",
  `SELECT ${EVENT_COLUMNS} FROM ${EVENT_TABLES} WHERE e."orgId" = $1 AND e.id = $2`,
);
const getRecording = statement<RecordingRow>(
  "recording",
  `SELECT ${RECORDING_COLUMNS} FROM ${RECORDING_TABLES} WHERE r."orgId" = $1 AND r.id = $2`,
);
const listDevices = statement<DeviceRow>(
  "devices",
  `SELECT ${DEVICE_COLUMNS} FROM ${DEVICE_TABLES} WHERE d."orgId" = $1 ORDER BY d."createdAtNs", d.id LIMIT $2`,
);
const listEvents = statement<EventRow>(
  "events",
  `SELECT ${EVENT_COLUMNS} FROM ${EVENT_TABLES} WHERE e."orgId" = $1 ORDER BY e."createdAtNs", e.id LIMIT $2`,
);
const listEventsOf = statement<EventRow>(
  "events of a device",
  `SELECT ${EVENT_COLUMNS} FROM ${EVENT_TABLES} WHERE e."orgId" = $1 AND e."deviceId" = $3
    ORDER BY e."createdAtNs", e.id LIMIT $2`,
);
const listRecordings = statement<RecordingRow>(
  "recordings",
  `SELECT ${RECORDING_COLUMNS} FROM ${RECORDING_TABLES} WHERE r."orgId" = $1 ORDER BY r."createdAtNs", r.id LIMIT $2`,
);
const listRecordingsOf = statement<RecordingRow>(
  "recordings of a device",
  `SELECT ${RECORDING_COLUMNS} FROM ${RECORDING_TABLES} WHERE r."orgId" = $1 AND r."deviceId" = $3
    ORDER BY r."createdAtNs", r.id LIMIT $2`,
);

export function readRoutes(app: Hono, pool: Pool): void {
  app.get("/livez", (c) => c.json({ status: "live" }));
  app.get("/v1/devices/:id", async (c) => {
    const { orgId } = await authenticate(pool, c, "devices.list");
    return c.json(toDevice(only(await getDevice(pool, [orgId, c.req.param("id")]))));
  });
  app.get("/v1/events/:id", async (c) => {
    const { orgId } = await authenticate(pool, c, "events.list");
    return c.json(toEvent(only(await getEvent(pool, [orgId, c.req.param("id")]))));
  });
  app.get("/v1/recordings/:id", async (c) => {
    const { orgId } = await authenticate(pool, c, "recordings.list");
    return c.json(toRecording(only(await getRecording(pool, [orgId, c.req.param("id")]))));
  });
  app.get("/v1/devices", async (c) => {
    const { orgId } = await authenticate(pool, c, "devices.list");
    return c.json((await listDevices(pool, [orgId, c.req.query("limit")])).map(toDevice));
  });
  app.get("/v1/events", async (c) => {
    const { orgId } = await authenticate(pool, c, "events.list");
    const { limit, deviceId } = c.req.query();
    const rows = deviceId ? listEventsOf(pool, [orgId, limit, deviceId]) : listEvents(pool, [orgId, limit]);
    return c.json((await rows).map(toEvent));
  });
  app.get("/v1/recordings", async (c) => {
    const { orgId } = await authenticate(pool, c, "recordings.list");
    const { limit, deviceId } = c.req.query();
    const rows = deviceId ? listRecordingsOf(pool, [orgId, limit, deviceId]) : listRecordings(pool, [orgId, limit]);
    return c.json((await rows).map(toRecording));
  });
  app.get("/v1/data/coverage", async (c) => {
    const { orgId } = await authenticate(pool, c, "data.coverage.list");
    const { start, end, deviceId } = c.req.query();
    const values = [orgId, deviceId, parseTimestamp(start!), parseTimestamp(end!), TOLERANCE_NS];
    return c.json((await listCoverage(pool, values)).map(toRange));
  });
}

function only<Row>(rows: readonly Row[]): Row {
  if (rows.length !== 1) throw new HTTPException(404);
  return rows[0]!;
}

interface RangeRow {
  readonly deviceId: string;
  readonly deviceName: string;
  readonly startNs: Int8;
  readonly endNs: Int8;
}

const TOLERANCE_NS = 14_000_000_000n;
const DAY_NS = 24n * 3600n * 1_000_000_000n;

/** Selects ranges of the imported recordings of one device. */
const listCoverage = statement<RangeRow>(
  "coverage",
  `WITH reached AS (
      SELECT "startNs", "endNs", max("endNs") OVER (ORDER BY "startNs", ctid ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
        AS reached, ctid AS place
      FROM "Recording" WHERE "orgId" = $1 AND "deviceId" = $2 AND "importStatus" = 'complete'
        AND ("startNs" BETWEEN $3::bigint - ${DAY_NS} AND $4 AND "endNs" >= $3
          OR "durationNs" > ${DAY_NS} AND downlink_span("startNs", "endNs") && downlink_span($3, $4))
    ), islands AS (
      SELECT *, count(*) FILTER (WHERE reached IS NULL OR "startNs" > reached + $5::bigint) OVER (ORDER BY "startNs", place) AS island
      FROM reached
    ), ranges AS (SELECT min("startNs") AS "startNs", max("endNs") AS "endNs" FROM islands GROUP BY island)
    SELECT d.id AS "deviceId", d.name AS "deviceName", g.* FROM ranges g JOIN "Device" d ON d.id = $2 ORDER BY g."startNs"`,
);

function toRange({ deviceId, deviceName, startNs, endNs }: RangeRow): object {
  const device = { id: deviceId, name: deviceName };
  return { deviceId, device, start: time(startNs), end: time(endNs), status: "imported" };
}
