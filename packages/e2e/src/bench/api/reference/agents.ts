import { createHash } from "node:crypto";
import { edgeLimits, INCARNATION_HEADER, LEASE_HEADER } from "@downlink/protocol";
import type { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import type { Pool } from "pg";
import { authenticate } from "./authenticate.ts";
import { time } from "./rows.ts";
import { type Int8, statement } from "./statement.ts";

interface Settings {
  readonly enabled: boolean;
  readonly retainRecordingsSeconds: number | null;
  readonly autoDeleteAfterImport: boolean;
  readonly agentSettings: object;
  readonly incarnation: string;
}

const SETTINGS = `d.enabled, d."retainRecordingsSeconds", d."autoDeleteAfterImport", d."agentSettings", y.incarnation`;
const LEASE_NS = BigInt(edgeLimits.leaseSeconds) * 1_000_000_000n;

interface Greeted extends Settings {
  readonly orgId: string;
  readonly projectId: string;
  readonly projectName: string;
  readonly deviceId: string;
  readonly deviceName: string;
  readonly leaseNumber: Int8;
  readonly isInventoryKnown: boolean;
}

const sayHello = statement<Greeted>(
  "hello",
  `WITH agent AS (
      UPDATE "Agent" SET "leaseExpiresAtNs" = $3, "lastSeenAtNs" = $4, "isOnline" = true, facts = $5, "machineId" = $6,
        "agentVersion" = $7
      WHERE "deviceId" = $1 AND "leaseInstanceId" = $2 AND "clonedAtNs" IS NULL RETURNING id, "leaseNumber"
    )
    SELECT d."orgId", d."projectId", p.name AS "projectName", d.id AS "deviceId", d.name AS "deviceName", ${SETTINGS},
      a."leaseNumber",
      (SELECT count(*) = $8 AND encode(sha256(convert_to(coalesce(
          string_agg("versionId" || ' ' || state || E'\\n', '' ORDER BY "versionId" COLLATE "C"), ''), 'UTF8')), 'hex') = $9
        FROM "EdgeFile" WHERE "agentId" = a.id) AS "isInventoryKnown"
    FROM agent a JOIN "Device" d ON d.id = $1 JOIN "Project" p ON p.id = d."projectId" CROSS JOIN "Deployment" y`,
);

const holdLease = `UPDATE "Agent" SET "leaseExpiresAtNs" = $3, "lastSeenAtNs" = $4, "isOnline" = true`;

interface Reported {
  readonly incarnation: string;
  readonly known: Int8;
  readonly unknownSchemas: readonly string[];
}

/** This is for files that are known already: the others take more statements. */
const report = statement<Reported>(
  "report",
  `WITH agent AS (
      ${holdLease}, "reportSequence" = $5
      WHERE "deviceId" = $1 AND "leaseNumber" = $2 AND "clonedAtNs" IS NULL AND "reportSequence" <= $5 RETURNING id, "orgId"
    )
    SELECT y.incarnation,
      (SELECT count(*) FROM "EdgeFile" f WHERE f."agentId" = a.id AND f."versionId" = ANY($6)) AS known,
      ARRAY(SELECT wanted FROM unnest($7::text[]) wanted WHERE NOT EXISTS (
        SELECT FROM "SchemaText" t WHERE t."orgId" = a."orgId" AND t.sha256 = wanted)) AS "unknownSchemas"
    FROM agent a CROSS JOIN "Deployment" y`,
);

interface Report {
  readonly sequence: number;
  readonly upserts: readonly {
    readonly versionId: string;
    readonly topics: readonly { readonly schemaSha256: string }[];
  }[];
}

interface Wanting extends Settings {
  readonly imports: readonly object[] | null;
}

const readWork = statement<Wanting>(
  "work",
  `WITH agent AS (
      ${holdLease} WHERE "deviceId" = $1 AND "leaseNumber" = $2 AND "clonedAtNs" IS NULL RETURNING id
    )
    SELECT ${SETTINGS}, (SELECT json_agg(i ORDER BY i.priority DESC, i."createdAtNs", i.id) FROM "ImportRequest" i, agent a
        WHERE i."agentId" = a.id AND NOT i."isAcknowledged" AND i.state <> 'cancelled') AS imports
    FROM agent a JOIN "Device" d ON d.id = $1 CROSS JOIN "Deployment" y`,
);

interface Hello {
  readonly instanceId: string;
  readonly machineId: string;
  readonly agentVersion: string;
  readonly host: object;
  readonly inventory: { readonly count: number; readonly digest: string };
}

export function agentRoutes(app: Hono, pool: Pool): void {
  app.post("/v1/edge/hello", async (c) => {
    const { deviceId } = await authenticate(pool, c);
    const body = await c.req.json<Hello>();
    const nowNs = now();
    const facts = { host: body.host, clockSkewMs: 0 };
    const said = [facts, body.machineId, body.agentVersion, body.inventory.count, body.inventory.digest];
    const row = only(await sayHello(pool, [deviceId, body.instanceId, nowNs + LEASE_NS, nowNs, ...said]));
    c.header(INCARNATION_HEADER, row.incarnation);
    return c.json({
      orgId: row.orgId,
      projectId: row.projectId,
      projectName: row.projectName,
      device: { id: row.deviceId, name: row.deviceName },
      settings: toSettings(row),
      serverTime: time(String(nowNs)),
      incarnation: row.incarnation,
      dataUrl: new URL(c.req.url).origin,
      lease: Number(row.leaseNumber),
      longPollSeconds: edgeLimits.longPollSeconds,
      isInventoryKnown: row.isInventoryKnown,
    });
  });
  app.post("/v1/edge/recordings", async (c) => {
    const { deviceId } = await authenticate(pool, c);
    const { sequence, upserts } = await c.req.json<Report>();
    const versionIds = upserts.map(({ versionId }) => versionId);
    const schemas = upserts.flatMap(({ topics }) => topics.map(({ schemaSha256 }) => schemaSha256));
    const lease = leaseOf(c.req.header(LEASE_HEADER));
    const row = only(await report(pool, [deviceId, ...lease, sequence, versionIds, schemas]));
    if (Number(row.known) !== versionIds.length) throw new HTTPException(501);
    c.header(INCARNATION_HEADER, row.incarnation);
    return c.json({ unknownSchemas: row.unknownSchemas, unassigned: [] });
  });
  app.get("/v1/edge/work", async (c) => {
    const { deviceId } = await authenticate(pool, c);
    const row = only(await readWork(pool, [deviceId, ...leaseOf(c.req.header(LEASE_HEADER))]));
    const work = { imports: row.imports ?? [], salvages: [], settings: toSettings(row) };
    const etag = createHash("sha256").update(JSON.stringify(work)).digest("base64url").slice(0, 22);
    c.header(INCARNATION_HEADER, row.incarnation);
    return c.json({ etag, work });
  });
}

function toSettings({ enabled, retainRecordingsSeconds, autoDeleteAfterImport, agentSettings }: Settings): object {
  return { enabled, retainRecordingsSeconds: retainRecordingsSeconds ?? 0, autoDeleteAfterImport, ...agentSettings };
}

function leaseOf(lease: string | undefined): [lease: string, expiresAtNs: bigint, nowNs: bigint] {
  const nowNs = now();
  return [lease ?? "0", nowNs + LEASE_NS, nowNs];
}

function now(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}

function only<Row>(rows: readonly Row[]): Row {
  if (rows.length !== 1) throw new HTTPException(409);
  return rows[0]!;
}
