import { createHmac, randomUUID } from "node:crypto";
import { deflateRawSync } from "node:zlib";
import { formatTimestamp, parseTimestamp } from "@downlink/protocol";
import type { Context, Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import type { Pool } from "pg";
import { authenticate } from "./authenticate.ts";
import { type EventRow, toEvent } from "./rows.ts";
import { type Int8, statement } from "./statement.ts";

/** The event is inserted with its row of the outbox, as the control plane does. */
const createEvent = statement<EventRow>(
  "create event",
  `WITH device AS (SELECT id, name, "projectId" FROM "Device" WHERE "orgId" = $1 AND id = $2 FOR KEY SHARE),
    event AS (
      INSERT INTO "Event" (id, "orgId", "projectId", "deviceId", "startNs", "endNs", metadata, properties, "createdBy", "createdAtNs",
        "updatedAtNs")
      SELECT $3, $1, d."projectId", d.id, $4, $5, $6, '{}',
        json_build_object('kind', 'apiKey', 'id', k.id, 'name', k.name), $7, $7
      FROM device d JOIN "ApiKey" k ON k.id = $9 RETURNING *
    ),
    published AS (
      INSERT INTO "OutboxEvent" (id, "orgId", "projectId", type, payload, "occurredAtNs")
      SELECT $8, $1, "projectId", 'event.created', json_build_object('event', json_build_object('id', id)), $7 FROM event
    )
    SELECT e.*, d.name AS "deviceName" FROM event e CROSS JOIN device d`,
);

const createRequest = statement<{ readonly id: string }>(
  "create request",
  `INSERT INTO "ImportRequest" (id, "orgId", "projectId", "siteId", source, state, "pipelineStage", "deviceId", "deviceName",
      filename, "requestedBy", "isAcknowledged", "createdAtNs", "updatedAtNs")
    SELECT $1, $2, d."projectId", s.id, 'upload', 'awaiting', 'Waiting for the upload', d.id, d.name, $4,
      json_build_object('kind', 'apiKey', 'id', k.id, 'name', k.name), true, $5, $5
    FROM "Device" d JOIN "Site" s ON s."orgId" = d."orgId" AND s.type <> 'edge' JOIN "ApiKey" k ON k.id = $6
    WHERE d."orgId" = $2 AND d.id = $3 RETURNING id`,
);

interface Source {
  readonly id: string;
  readonly blobKey: string;
  readonly indexKey: string | null;
  readonly contentSha256: string;
  readonly sizeBytes: Int8;
  readonly path: string;
  readonly startNs: Int8;
  readonly endNs: Int8;
  readonly damage: string | null;
}

const findSources = statement<Source>(
  "sources",
  `SELECT id, "blobKey", "indexKey", "contentSha256", "sizeBytes", path, "startNs", "endNs", damage FROM "Recording"
    WHERE "orgId" = $1 AND id = $2 AND "importStatus" = 'complete' AND "blobKey" IS NOT NULL`,
);

export function writeRoutes(app: Hono, pool: Pool): void {
  app.post("/v1/events", async (c) => {
    const { orgId, keyId } = await authenticate(pool, c, "events.create");
    const body = await c.req.json<{ deviceId: string; start: string; end: string; metadata: object }>();
    const span = [parseTimestamp(body.start), parseTimestamp(body.end)];
    const values = [orgId, body.deviceId, randomUUID(), ...span, body.metadata, now(), randomUUID(), keyId];
    return c.json(toEvent(only(await createEvent(pool, values))));
  });
  app.post("/v1/data/upload", async (c) => {
    const { orgId, keyId } = await authenticate(pool, c, "data.upload");
    const body = await c.req.json<{ deviceId: string; filename: string }>();
    const { id } = only(await createRequest(pool, [randomUUID(), orgId, body.deviceId, body.filename, now(), keyId]));
    const path = `/data-plane/uploads/${id}`;
    return c.json({ ...signedLink(c, "PUT", { path, claims: {} }), requestId: id });
  });
  app.post("/v1/data/stream", async (c) => {
    const { orgId } = await authenticate(pool, c, "data.stream");
    const { recordingId } = await c.req.json<{ recordingId: string }>();
    const { id, contentSha256: sha256, ...row } = only(await findSources(pool, [orgId, recordingId]));
    const source = { recordingId: id, sha256, ...row, fileName: row.path, sizeBytes: Number(row.sizeBytes) };
    const packed = deflateRawSync(JSON.stringify({ sources: [source], topicSets: [], topics: [], output: OUTPUT }));
    const claims = { selection: packed.toString("base64url") };
    return c.json({ ...signedLink(c, "GET", { path: EXPORT_PATH, claims }), fileName: row.path });
  });
}

const EXPORT_PATH = "/data-plane/exports";
const OUTPUT = { format: "mcap", compression: "lz4" };
const LINK_LIFE_MS = 15_000;
const KEY = "a key of as many characters as one of 256 bits has";

interface Target {
  readonly path: string;
  readonly claims: object;
}

function signedLink(context: Context, method: string, { path, claims }: Target): object {
  const c = Buffer.from(JSON.stringify(claims)).toString("base64url");
  const e = Date.now() + LINK_LIFE_MS;
  const s = createHmac("sha256", KEY)
    .update(JSON.stringify(["1", "key", method, path, String(e), c]))
    .digest("base64url");
  const query = new URLSearchParams({ v: "1", k: "key", e: String(e), c, s });
  const linkExpiresAt = formatTimestamp(BigInt(e) * 1_000_000n);
  return { link: `${new URL(context.req.url).origin}${path}?${query}`, linkExpiresAt };
}

function now(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}

function only<Row>(rows: readonly Row[]): Row {
  if (rows.length !== 1) throw new HTTPException(404);
  return rows[0]!;
}
