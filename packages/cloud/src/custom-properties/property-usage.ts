import type { Transaction } from "../db/transaction.ts";

/**
 * Which of these custom properties some resource has a value of, or some device had one.
 * Each is one probe of an index that stops at the first hit. A plain EXISTS would make the planner scan the table where it
 * guesses that a hit comes soon, and read all of it where none does. An order by the index's last column leaves it no
 * choice; `MATERIALIZED` makes it plan for every row, of which only the first is fetched.
 */
export async function findUsedProperties(db: Pick<Transaction, "$queryRaw">, ids: readonly string[]) {
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT p.id FROM "CustomProperty" p
    WHERE p.id = ANY(${[...ids]}) AND CASE p."resourceType"
      WHEN 'device' THEN p.key = (
        SELECT i.key FROM "DevicePropertyInterval" i
        WHERE i."orgId" = p."orgId" AND i.key >= p.key ORDER BY i.key LIMIT 1)
      WHEN 'event' THEN EXISTS (
        WITH used AS MATERIALIZED (
          SELECT 1 FROM "Event" e WHERE e."orgId" = p."orgId" AND e.properties ? p.key)
        SELECT 1 FROM used)
      ELSE EXISTS (
        WITH used AS MATERIALIZED (
          SELECT 1 FROM "Session" s WHERE s."orgId" = p."orgId" AND s.properties ? p.key AND s."deletedAtNs" IS NULL)
        SELECT 1 FROM used)
      END`;
  return new Set(rows.map(({ id }) => id));
}
