import type { Transaction } from "../db/transaction.ts";

/** What is in use, the resources changed last tell of nearly always. */
const SAMPLE_ROWS = 500;

/**
 * Which of these custom properties of the organization some resource has a value of, or some device had one.
 * Each of devices is one probe of an index that stops at the first hit; an order by the index's last column leaves the planner
 * no choice. The index of keys of events and sessions gives all that have a key before the first, 45 ms for one that 1,000,000
 * have; it is asked for no key of the sample. A plain EXISTS would make the planner scan the table where it guesses that a
 * hit comes soon, and read all of it where none does; `MATERIALIZED` makes it plan for every row, of which only the first is
 * fetched.
 */
export async function findUsedProperties(db: Pick<Transaction, "$queryRaw">, orgId: string, ids: readonly string[]) {
  const rows = await db.$queryRaw<{ id: string }[]>`
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
  return new Set(rows.map(({ id }) => id));
}
