// An agent mostly reports files that the cloud knows as they are: a repeat of a report whose answer was lost, or a new listing. Such a
// report of a device's agent is one statement; with the look-up of the caller that makes 2, where the ORM took 10. Each file of an edge
// site has to be placed on a device first (`place-files.ts`).

import type { api, EdgeItem, Input } from "@downlink/protocol";
import { sql } from "kysely";
import type { AgentCtx } from "../../calls/context/context.ts";
import { toJson } from "../../db/insert-rows.ts";
import { type Parameters, prepare } from "../../db/prepared.ts";
import { LEASE_NS } from "../../process/polls/lease-renewals.ts";
import { fileColumns } from "./edge-rows.ts";
import { namedSchemas } from "./store-schemas.ts";

type Body = Input<typeof api.edge.report>;

type Reported = Omit<Body, "upserts"> & {
  /** No two items are of one version. */
  readonly items: readonly EdgeItem[];
};

interface Known {
  readonly agentId: string;
  /** The schemas that the report names and that were not sent yet. */
  readonly unknown: string[];
  readonly unassigned: [];
}

/**
 * Renews the lease, notes the report's number, and marks the files as named by the report's listing. Returns undefined, and changes
 * nothing, if anything else would change or the report is to be refused; then `report.ts` stores it. No transaction that held the agent's
 * row meanwhile is overlooked: the row must still be the same (`xmin`).
 */
export async function reportKnown(ctx: AgentCtx, reported: Reported): Promise<Known | undefined> {
  const { caller, clock, db } = ctx;
  if (caller.deviceId === null || caller.lease === undefined || bringsMore(reported)) return undefined;
  const nowNs = clock.nowNs();
  const named = [...namedSchemas(reported.items)];
  const [row] = await renewIfKnown(db, {
    ...{ deviceId: caller.deviceId, lease: caller.lease, sequence: reported.sequence },
    ...{ nowNs, leaseEndNs: nowNs + LEASE_NS, items: toJson(reported.items.map(toRow)) },
    ...{ listingId: reported.listing?.id ?? null, schemas: named },
  });
  if (!row) return undefined;
  ctx.noteIncarnation(row.incarnation);
  const unknown = new Set(row.unknownSchemas);
  return { agentId: row.agentId, unknown: named.filter((sha256) => unknown.has(sha256)), unassigned: [] };
}

/** The end of a listing removes files, in transactions of its own. */
function bringsMore({ removals, deletions = [], acknowledgements, schemas, listing }: Reported): boolean {
  return listing?.isLast || [removals, deletions, acknowledgements, schemas].some((list) => list.length > 0);
}

function toRow(item: EdgeItem) {
  return { ...fileColumns(item), wantsImport: item.state === "indexed" && item.wantsImport };
}

interface Row {
  readonly agentId: string;
  readonly incarnation: string;
  readonly unknownSchemas: readonly string[];
}

/** The columns that a report fills, each with its type: one that `fileColumns` gets and that is missing here does not compile. */
const FILE_TYPES: Record<keyof ReturnType<typeof fileColumns>, "text" | "bigint"> = {
  versionId: "text",
  path: "text",
  sizeBytes: "bigint",
  modifiedAtNs: "bigint",
  headTailSha256: "text",
  state: "text",
  reasonCode: "text",
  reasonText: "text",
  salvageStartNs: "bigint",
  salvageEndNs: "bigint",
};
const columnsOf = (alias: string) =>
  Object.keys(FILE_TYPES)
    .map((name) => `${alias}."${name}"`)
    .join(", ");
const TYPED_COLUMNS = Object.entries(FILE_TYPES)
  .map(([name, type]) => `"${name}" ${type}`)
  .join(", ");

interface Values {
  readonly deviceId: string;
  readonly lease: bigint;
  readonly sequence: number;
  readonly nowNs: bigint;
  readonly leaseEndNs: bigint;
  /** JSON. */
  readonly items: string;
  readonly listingId: string | null;
  /** The schemas that the items name. */
  readonly schemas: readonly string[];
}

/**
 * Each version is looked up by itself, as in `fleet/agents/find-versions.ts`. `store-files.ts`, `note-salvages.ts` and
 * `request-auto-imports.ts` say what would change.
 */
const renewIfKnown = prepare(
  (_db, at: Parameters<Values>) => sql<Row>`
  WITH seen AS MATERIALIZED (
    SELECT a.id, a.xmin AS version, d.id AS "deviceId", d."projectId" FROM "Agent" a JOIN "Device" d ON d.id = a."deviceId"
    WHERE a."deviceId" = ${at.deviceId} AND a."leaseNumber" = ${at.lease} AND a."clonedAtNs" IS NULL AND a."reportSequence" <= ${at.sequence}
  ), file AS MATERIALIZED (
    SELECT f.id, f."recordingId", f."listingId", i.state, i."wantsImport",
      (${sql.raw(columnsOf("f"))}, f."projectId", f."deviceId") IS NOT DISTINCT FROM
        (${sql.raw(columnsOf("i"))}, s."projectId", s."deviceId") AS "isSame"
    FROM seen s CROSS JOIN json_to_recordset(${at.items}::json) AS i(${sql.raw(TYPED_COLUMNS)}, "wantsImport" boolean)
    LEFT JOIN LATERAL (
      SELECT * FROM "EdgeFile" WHERE "agentId" = s.id AND "versionId" = i."versionId" LIMIT 1
    ) f ON TRUE
  ), held AS (
    UPDATE "Agent" a SET "leaseExpiresAtNs" = ${at.leaseEndNs}, "lastSeenAtNs" = ${at.nowNs}, "isOnline" = true, "reportSequence" = ${at.sequence}
    FROM seen s WHERE a.id = s.id AND a.xmin = s.version
      AND NOT EXISTS (SELECT FROM file WHERE NOT "isSame" OR state = 'indexed' AND "recordingId" IS NULL)
      AND NOT EXISTS (
        SELECT FROM file f JOIN "Recording" r ON r.id = f."recordingId" AND r."importStatus" = 'none'
        WHERE f."wantsImport" AND NOT EXISTS (SELECT FROM "ImportRequest" q WHERE q."recordingId" = r.id))
      AND NOT EXISTS (
        SELECT FROM "SalvageRequest" q LEFT JOIN "Recording" r ON r.id = q."recordingId"
        WHERE q."agentId" = s.id AND (q.state IN ('requested', 'gone') OR q.state = 'made' AND r."importStatus" = 'pending'))
    RETURNING a.id, a."orgId"
  ), listed AS (
    UPDATE "EdgeFile" f SET "listingId" = ${at.listingId}, "reportedAtNs" = ${at.nowNs}
    FROM held h CROSS JOIN file k WHERE f.id = k.id AND k."listingId" IS DISTINCT FROM coalesce(${at.listingId}, k."listingId")
  )
  SELECT h.id AS "agentId", c.incarnation, ARRAY(
    SELECT sha256 FROM unnest(${at.schemas}::text[]) AS named(sha256) WHERE NOT EXISTS (
      SELECT FROM "SchemaText" t WHERE t."orgId" = h."orgId" AND t.sha256 = named.sha256)) AS "unknownSchemas"
  FROM held h JOIN "Deployment" c ON c.id = 1`,
);
