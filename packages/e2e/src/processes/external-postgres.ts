import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { startEmbeddedPostgres } from "@downlink/cloud/testing";
import { eventually } from "@downlink/recordings/testing";
import pg from "pg";

export interface ExternalPostgres extends AsyncDisposable {
  readonly url: string;
  /** Ends it with the signal, and resolves when it answers again. */
  restart(signal: "SIGKILL" | "SIGINT"): Promise<void>;
  /** Queries it directly; `database` is the URL of another database of it. */
  query<R extends pg.QueryResultRow>(sql: string, database?: string): Promise<R[]>;
}

/** Starts a Postgres outside of the control plane. It is started again whenever it ends, as a service manager would do. */
export async function startExternalPostgres(dir: string): Promise<ExternalPostgres> {
  const log = { info() {}, warn() {} };
  const { url, stop } = await startEmbeddedPostgres({ dir, log, settings: { max_connections: "300" } });
  const query = async <R extends pg.QueryResultRow>(sql: string, database = url): Promise<R[]> => {
    const client = new pg.Client({ connectionString: database });
    client.on("error", () => {}); // The query fails by itself.
    await client.connect();
    try {
      return (await client.query<R>(sql)).rows;
    } finally {
      await client.end().catch(() => {});
    }
  };
  return {
    url,
    query,
    async restart(signal) {
      const [pid] = (await readFile(join(dir, "data", "postmaster.pid"), "utf8")).split("\n");
      const before = await startOf(query);
      process.kill(Number(pid), signal);
      await eventually(
        () => startOf(query).catch(() => before),
        (now) => now !== before,
      );
    },
    [Symbol.asyncDispose]: stop,
  };
}

async function startOf(query: ExternalPostgres["query"]): Promise<number> {
  const [row] = await query<{ at: Date }>("SELECT pg_postmaster_start_time() AS at");
  return row!.at.getTime();
}
