import type { Database } from "../../db/client.ts";
import { Prisma } from "../../db/generated/client.ts";
import { newPoolReader } from "../../db/read-sql.ts";
import { WORK_SIGNALS } from "../../process/polls/work-signals.ts";
import { type StoreAddress, shortNameOf } from "../../store/bucket-uploads/store-address.ts";

/**
 * Finds processes whose settings do not name this store, one sentence a machine. Every process has a connection by which it hears of work,
 * and whose name tells its store; a process of an older version tells none, and knows nothing of a second store. `self` is the store of
 * the process that asks, which does not count.
 */
export async function findOthers(
  db: Pick<Database, "pool">,
  address: StoreAddress,
  self: StoreAddress | undefined,
): Promise<string[]> {
  const rows = await newPoolReader(db)<{ name: string; host: string; count: number }>(Prisma.sql`
    SELECT application_name AS name, coalesce(host(client_addr), 'this machine') AS host, count(*)::int
    FROM pg_stat_activity WHERE datname = current_database() AND starts_with(application_name, ${WORK_SIGNALS})
    GROUP BY 1, 2 ORDER BY 2`);
  const own = rows.find(({ name }) => self && name === nameOf(self));
  const others = rows.map((row) => (row === own ? { ...row, count: row.count - 1 } : row));
  return others
    .filter(({ name, count }) => count > 0 && name !== nameOf(address))
    .map(({ name, host, count }) => {
      const why = name === WORK_SIGNALS ? "of an older version" : "with the settings of another store";
      return `${count} process(es) ${why} on ${host}`;
    });
}

function nameOf(address: StoreAddress): string {
  return `${WORK_SIGNALS} ${shortNameOf(address)}`;
}
