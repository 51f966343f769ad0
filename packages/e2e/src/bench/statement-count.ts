import type { TestCloud } from "@downlink/cloud/testing";

type Pool = TestCloud["deps"]["db"]["pool"];

export interface StatementCount {
  /** That were sent, those that begin and end transactions included. */
  statements: number;
  /** That Postgres ended because of a deadlock: the control plane repeats their transactions, and nobody else would know. */
  deadlocks: number;
}

/** Counts from now on, as the counts stand. */
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
  for (const client of idle) client.release(true); // those that come are counted
  return count;
}
