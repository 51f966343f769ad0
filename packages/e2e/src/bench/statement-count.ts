import type { TestCloud } from "@downlink/cloud/testing";

type Pool = TestCloud["deps"]["db"]["pool"];

export interface StatementCount {
  /** The number of statements that were sent, including those that begin and end transactions. */
  statements: number;
  /** The number of transactions that Postgres ended because of a deadlock. The control plane repeats them, so its callers do not notice. */
  deadlocks: number;
}

/** Counts from now on. */
export async function countStatements(pool: Pool): Promise<StatementCount> {
  const count = { statements: 0, deadlocks: 0 };
  pool.on("connect", (client) => {
    const query = client.query.bind(client) as (...given: unknown[]) => Promise<unknown>;
    const counted = async (...given: unknown[]) => {
      count.statements += 1;
      try {
        return await query(...given);
      } catch (error) {
        if ((error as { code?: string }).code === "40P01") count.deadlocks += 1;
        throw error;
      }
    };
    client.query = counted as typeof client.query;
  });
  const idle = await Promise.all(Array.from({ length: pool.totalCount }, () => pool.connect()));
  for (const client of idle) client.release(true); // connections that come are counted
  return count;
}
