import type { TestCloud } from "@downlink/cloud/testing";
import type { Call, Get } from "./measure.ts";

type Pool = TestCloud["deps"]["db"]["pool"];

interface Node {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly Plans?: readonly Node[];
}

interface Explained {
  readonly "Query Text": string;
  readonly Plan: Node;
}

export interface TableScan {
  readonly call: Call;
  readonly table: string;
  readonly sql: string;
}

/** A table with this many rows must not be read whole for a page. */
const LARGE_ROWS = 100_000;

/** Makes each call once more while Postgres reports the plan of every statement, and returns the scans of whole large tables. */
export async function findTableScans(pool: Pool, get: Get, calls: readonly Call[]): Promise<TableScan[]> {
  const large = await findLargeTables(pool);
  const explained = await explainFromNowOn(pool);
  const scans: TableScan[] = [];
  let statements = 0;
  for (const call of calls) {
    await get(call.target);
    for (const { Plan, "Query Text": sql } of explained.splice(0)) {
      if (sql.trimStart().startsWith("EXPLAIN")) continue; // this asks for a plan, and runs nothing
      statements += 1;
      for (const table of tablesScanned(Plan)) if (large.has(table)) scans.push({ call, table, sql });
    }
  }
  if (statements < calls.length)
    throw new Error(`${calls.length} calls, but only ${statements} plans: some are missing`);
  return scans;
}

async function findLargeTables(pool: Pool): Promise<Set<string>> {
  const { rows } = await pool.query<{ relname: string }>(
    "SELECT relname FROM pg_class WHERE relkind = 'r' AND reltuples >= $1",
    [LARGE_ROWS],
  );
  return new Set(rows.map(({ relname }) => relname));
}

/** The plans are notices of the connection that runs the statement: they come before its result, so that none can be missed. */
async function explainFromNowOn(pool: Pool): Promise<Explained[]> {
  const explained: Explained[] = [];
  pool.on("connect", (client) =>
    client.on("notice", ({ message = "" }) => {
      const json = /^duration: .*? plan:\n(?<plan>\{.*\})$/s.exec(message)?.groups?.plan;
      if (json !== undefined) explained.push(JSON.parse(json) as Explained);
    }),
  );
  const settings = {
    session_preload_libraries: "auto_explain",
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_level": "notice",
    "auto_explain.log_format": "json",
  };
  const { rows } = await pool.query<{ name: string }>("SELECT current_database() AS name");
  await pool.query("LOAD 'auto_explain'"); // otherwise its settings are unknown
  for (const [name, value] of Object.entries(settings))
    await pool.query(`ALTER DATABASE "${rows[0]!.name}" SET ${name} = '${value}'`);
  await renewConnections(pool);
  return explained;
}

/** Settings of a database apply to connections that begin later. */
async function renewConnections(pool: Pool): Promise<void> {
  const idle = await Promise.all(Array.from({ length: pool.totalCount }, () => pool.connect()));
  for (const client of idle) client.release(true);
}

function tablesScanned(node: Node): string[] {
  const below = (node.Plans ?? []).flatMap(tablesScanned);
  return node["Node Type"] === "Seq Scan" ? [node["Relation Name"]!, ...below] : below;
}
