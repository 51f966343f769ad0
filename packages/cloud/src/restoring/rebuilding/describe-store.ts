import { Prisma } from "../../db/generated/client.ts";
import type { Session } from "../../keeping/integrity/listed-objects.ts";
import { pagesOf } from "../../keeping/integrity/suspects.ts";

/** Judges each upload as the walk through the store will, without a change. */
const JUDGED = Prisma.sql`
  SELECT d.*, CASE
    WHEN EXISTS (SELECT FROM noted n WHERE n.kind = 'Data.delete' AND n.data ->> 'blobKey' = d.key)
      OR EXISTS (SELECT FROM noted n WHERE n.kind IN ('Organization.delete', 'Project.delete') AND n.subject IN (d."orgId", d."projectId"))
      THEN 'deleted'
    WHEN NOT d."isUnderstood" THEN 'unknown'
    WHEN d.kind = 'begun' AND l.key IS NULL THEN 'unfinished'
    WHEN d.kind = 'begun' THEN 'waiting'
    WHEN l.key IS NULL THEN 'missing'
    WHEN l."sizeBytes" <> d."sizeBytes" THEN 'different'
    ELSE 'imported' END AS outcome
  FROM described d LEFT JOIN listed l ON l.key = d.key AND l."isWhole"`;

/** The name that the ledger has; it forgets what is older than any backup. */
const nameOf = (table: string, id: string) =>
  Prisma.raw(
    `(SELECT n.data ->> 'name' FROM noted n WHERE n.kind = '${table}.insert' AND n.subject = ${id} ORDER BY n.id DESC LIMIT 1)`,
  );

const OWNERS = Prisma.sql`
  SELECT o.*, ${nameOf("Organization", 'o."orgId"')} AS "orgName", ${nameOf("Project", 'o."projectId"')} AS "projectName",
    coalesce(${nameOf("Device", 'o."deviceId"')}, o."manifestName") AS "deviceName"
  FROM (
    SELECT j."orgId", j."projectId", d."deviceId", (array_agg(j."deviceName" ORDER BY j.key))[1] AS "manifestName",
      count(*)::int AS count, sum(j."sizeBytes")::text AS bytes
    FROM (${JUDGED}) j, LATERAL (SELECT CASE
      WHEN NOT EXISTS (SELECT FROM noted n WHERE n.kind = 'Device.delete' AND n.subject = j."deviceId") THEN j."deviceId"
    END AS "deviceId") d
    WHERE j.outcome = 'imported' GROUP BY 1, 2, 3
  ) o ORDER BY o."orgId", o."projectId", o."deviceId"`;

interface OwnerRow {
  readonly orgId: string;
  readonly orgName: string | null;
  readonly projectId: string;
  readonly projectName: string | null;
  readonly deviceId: string | null;
  readonly deviceName: string | null;
  readonly count: number;
  readonly bytes: string;
}

/** Yields what the store can give back, in lines, and last how much of it cannot be said. */
export async function* describeStore(session: Session): AsyncGenerator<string, void> {
  for await (const page of pagesOf<OwnerRow>(session, OWNERS)) for (const row of page) yield toLine(row);
  const found = await countOutcomes(session);
  yield `recordings that can be made again, with their ids, hashes, keys, paths, sessions and times: ${found.imported}`;
  yield `files that were stored and not imported yet, and are imported then: ${found.waiting}`;
  yield `uploads that had begun, and go on when their senders do: ${found.unfinished}`;
  yield `uploads that were deleted on purpose, and stay so: ${found.deleted}`;
  yield `of which nothing is known: ${found.unknown} manifests that are not understood, ${await countUndescribed(session)} objects ` +
    `without a manifest, ${found.missing} objects that are missing, ${found.different} objects of another size than their manifest says`;
  yield LOST;
}

const LOST =
  "lost with the database: people, roles, limits and settings; datasets, episodes, events, webhooks, properties, saved views and links; " +
  "sites, API keys and tokens of devices and sites, unless they were made within DOWNLINK_BACKUP_RETENTION; the keys of sessions; and the " +
  "recordings in customers' buckets and at self-hosted sites, until these are connected again";

function toLine({ orgId, orgName, projectId, projectName, deviceId, deviceName, count, bytes }: OwnerRow): string {
  const device = deviceId === null ? "no device" : `device ${toName(deviceId, deviceName)}`;
  const place = `organization ${toName(orgId, orgName)}, project ${toName(projectId, projectName)}, ${device}`;
  return `${place}: ${count} ${count === 1 ? "recording" : "recordings"}, ${BigInt(bytes).toLocaleString("en-US")} bytes`;
}

function toName(id: string, name: string | null): string {
  return name === null ? `${id} (its name is lost, so that the id becomes its name)` : `${name} (${id})`;
}

const NO_OUTCOMES = { imported: 0, waiting: 0, unfinished: 0, deleted: 0, unknown: 0, missing: 0, different: 0 };

/** Returns how many uploads the store has of each kind. */
export async function countOutcomes(session: Session): Promise<typeof NO_OUTCOMES> {
  const sql = Prisma.sql`SELECT outcome, count(*)::int AS count FROM (${JUDGED}) j GROUP BY outcome`;
  const rows = await session.query<{ outcome: string; count: number }>(sql);
  return { ...NO_OUTCOMES, ...Object.fromEntries(rows.map(({ outcome, count }) => [outcome, count])) };
}

async function countUndescribed(session: Session): Promise<number> {
  const [row] = await session.query<{ count: number }>(
    Prisma.sql`SELECT count(*)::int AS count FROM listed l WHERE l."isWhole" AND l.key ~ '^[^/]+/upl_'
      AND NOT EXISTS (SELECT FROM described d WHERE d.key = l.key)`,
  );
  return row!.count;
}

export interface FoundOrganization {
  readonly id: string;
  /** Null: only its id is known. */
  readonly name: string | null;
  /** The site in which the store's objects are. */
  readonly siteId: string;
  /** When its first upload began. */
  readonly createdAtNs: string;
}

/** Finds the organizations that have anything in the store, the eldest first. */
export function findOrganizations(session: Session): Promise<FoundOrganization[]> {
  return session.query<FoundOrganization & Record<string, unknown>>(
    Prisma.sql`SELECT o.*, ${nameOf("Organization", "o.id")} AS name FROM (
       SELECT "orgId" AS id, (array_agg("siteId" ORDER BY key))[1] AS "siteId", min("begunAtNs")::text AS "createdAtNs"
       FROM (${JUDGED}) j WHERE outcome NOT IN ('deleted', 'unknown') GROUP BY 1
     ) o WHERE NOT EXISTS (SELECT FROM noted n WHERE n.kind = 'Organization.delete' AND n.subject = o.id)
     ORDER BY o."createdAtNs"::bigint, o.id`,
  );
}
