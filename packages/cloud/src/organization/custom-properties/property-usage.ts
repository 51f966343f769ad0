import type { Transaction } from "../../db/transaction.ts";

interface Scope {
  readonly orgId: string;
  /** Only resources of these projects count; an empty list stands for all projects of the organization. */
  readonly projectIds: readonly string[];
}

/**
 * Returns those of the custom properties of which some resource within the scope has a value, or some device had one. It costs as much as
 * the projects of the scope are large, not all of them (500,000 events of another project: 15 ms).
 */
export async function findUsedProperties(db: Db, { orgId, projectIds }: Scope, ids: readonly string[]) {
  const rows =
    projectIds.length === 0 ? await findUsedAnywhere(db, orgId, ids) : await findUsedIn(db, projectIds, { orgId, ids });
  return new Set(rows.map(({ id }) => id));
}

type Db = Pick<Transaction, "$queryRaw">;

interface Used {
  readonly id: string;
}

/** The resources that were changed last nearly always show which properties are in use. */
const SAMPLE_ROWS = 500;

/**
 * For each property of devices one probe of an index stops at the first hit. The index of keys of events and sessions collects all rows
 * with a key before it returns the first, 45 ms for a key that 1,000,000 have; so it is not asked for keys that the sample shows.
 */
function findUsedAnywhere(db: Db, orgId: string, ids: readonly string[]): Promise<Used[]> {
  // The order by the index's last column leaves the planner no choice. A plain EXISTS would make it scan the table if it guesses that a hit
  // comes soon, and read all of it if there is none; MATERIALIZED makes it plan for every row, of which only the first is fetched.
  return db.$queryRaw<Used[]>`
    WITH event_keys AS MATERIALIZED (
      SELECT DISTINCT jsonb_object_keys(properties) AS key FROM (
        SELECT properties FROM "Event" WHERE "orgId" = ${orgId}
        ORDER BY "updatedAtNs" DESC, id DESC LIMIT ${SAMPLE_ROWS}) e
    ), session_keys AS MATERIALIZED (
      SELECT DISTINCT jsonb_object_keys(properties) AS key FROM (
        SELECT properties, "deletedAtNs" FROM "Session" WHERE "orgId" = ${orgId}
        ORDER BY "updatedAtNs" DESC, id DESC LIMIT ${SAMPLE_ROWS}) s
      WHERE "deletedAtNs" IS NULL
    )
    SELECT p.id FROM "CustomProperty" p
    WHERE p."orgId" = ${orgId} AND p.id = ANY(${[...ids]}) AND CASE p."resourceType"
      WHEN 'device' THEN p.key = (
        SELECT i.key FROM "DevicePropertyInterval" i
        WHERE i."orgId" = p."orgId" AND i.key >= p.key ORDER BY i.key LIMIT 1)
      WHEN 'event' THEN p.key IN (SELECT key FROM event_keys) OR EXISTS (
        WITH used AS MATERIALIZED (
          SELECT 1 FROM "Event" e WHERE e."orgId" = p."orgId" AND e.properties ? p.key)
        SELECT 1 FROM used)
      ELSE p.key IN (SELECT key FROM session_keys) OR EXISTS (
        WITH used AS MATERIALIZED (
          SELECT 1 FROM "Session" s WHERE s."orgId" = p."orgId" AND s.properties ? p.key AND s."deletedAtNs" IS NULL)
        SELECT 1 FROM used)
      END`;
}

/** Works like the query above, but with one probe for each device of the projects, so that the devices of others cost nothing. */
function findUsedIn(
  db: Db,
  projectIds: readonly string[],
  { orgId, ids }: { orgId: string; ids: readonly string[] },
): Promise<Used[]> {
  const projects = [...projectIds];
  return db.$queryRaw<Used[]>`
    SELECT p.id FROM "CustomProperty" p
    WHERE p."orgId" = ${orgId} AND p.id = ANY(${[...ids]}) AND CASE p."resourceType"
      WHEN 'device' THEN EXISTS (
        SELECT FROM "Device" d CROSS JOIN LATERAL (
          SELECT FROM "DevicePropertyInterval" i WHERE i."deviceId" = d.id AND i.key = p.key LIMIT 1) used
        WHERE d."projectId" = ANY(${projects}))
      WHEN 'event' THEN EXISTS (
        WITH used AS MATERIALIZED (
          SELECT 1 FROM "Event" e
          WHERE e."orgId" = p."orgId" AND e."projectId" = ANY(${projects}) AND e.properties ? p.key)
        SELECT 1 FROM used)
      ELSE EXISTS (
        WITH used AS MATERIALIZED (
          SELECT 1 FROM "Session" s
          WHERE s."orgId" = p."orgId" AND s."projectId" = ANY(${projects}) AND s.properties ? p.key
            AND s."deletedAtNs" IS NULL)
        SELECT 1 FROM used)
      END`;
}
