import type { TestCloud } from "@downlink/cloud/testing";
import { dataset } from "./dataset.ts";
import type { Counts, Table } from "./seed-sql.ts";

type Pool = TestCloud["deps"]["db"]["pool"];
type Client = Pick<Pool, "query">;

export interface Seeded {
  readonly orgId: string;
  readonly projectId: string;
  readonly primarySiteId: string;
  readonly counts: Counts;
}

const FULL_SIZE: Counts = {
  devices: 100_000,
  intervals: 1_000_000,
  events: 1_000_000,
  sessions: 200_000,
  recordedDevices: 1_000,
  recordings: 1_000_000,
  imports: 1_000_000,
  episodes: 1_000_000,
  unusedProperties: 600,
};

export function scaleCounts(scale: number): Counts {
  const scaled = Object.entries(FULL_SIZE).map(([name, count]) => [name, Math.max(20, Math.round(count * scale))]);
  return Object.fromEntries(scaled) as Counts;
}

type Owner = Omit<Seeded, "counts">;

/** Fills the only organization, in the same way each time. */
export async function seed(pool: Pool, counts: Counts, print: (line: string) => void): Promise<Seeded> {
  return { ...(await fillTables(pool, (owner) => dataset({ ...owner, ...counts }), print)), counts };
}

/** Secondary indexes of tables are made again after the rows, which is faster. */
export async function fillTables(
  pool: Pool,
  tablesOf: (owner: Owner) => readonly Table[],
  print: (line: string) => void,
): Promise<Owner> {
  const client = await pool.connect();
  try {
    const { rows } = await client.query<Owner>(
      `SELECT p."orgId", p.id AS "projectId", s.id AS "primarySiteId" FROM "Project" p JOIN "Site" s USING ("orgId")`,
    );
    const owner = rows[0]!;
    await client.query("SET statement_timeout = 0; SET maintenance_work_mem = '512MB'; SELECT setseed(0.5)");
    await client.query("SET session_replication_role = replica"); // no foreign key is checked row by row
    for (const { table, sql } of tablesOf(owner)) {
      const startedMs = performance.now();
      const rowCount = await fill(client, table, sql);
      print(`${rowCount} rows of ${table} in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
    }
    await client.query("VACUUM ANALYZE");
    return owner;
  } finally {
    client.release(true); // the settings of the connection end with it
  }
}

async function fill(client: Client, table: string, sql: string): Promise<number> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `SELECT c.relname AS name, pg_get_indexdef(i.indexrelid) AS definition
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE i.indrelid = $1::regclass AND NOT i.indisunique`,
    [`"${table}"`],
  );
  for (const { name } of rows) await client.query(`DROP INDEX "${name}"`);
  const { rowCount } = await client.query(sql);
  for (const { definition } of rows) await client.query(definition);
  return rowCount ?? 0;
}
