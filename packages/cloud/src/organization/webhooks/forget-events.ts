import { DELIVERY_DAYS } from "@downlink/protocol";
import type { Deps } from "../../calls/context/context.ts";
import { newId } from "../../db/ids.ts";

const KEPT_MS = DELIVERY_DAYS * 86_400_000;
const BATCH = 10_000;

/** Forgets events that are older than deliveries are kept, with their deliveries, whatever became of these. */
export async function forgetEvents({ db, clock }: Pick<Deps, "db" | "clock">): Promise<void> {
  const first = newId("whev", Number(clock.nowNs() / 1_000_000n) - KEPT_MS); // ids are in the order of time
  for (let count = BATCH; count === BATCH; )
    count = await db.prisma.$executeRaw`
      DELETE FROM "OutboxEvent" WHERE "id" IN (
        SELECT "id" FROM "OutboxEvent" WHERE "id" < ${first} ORDER BY "id" LIMIT ${BATCH})`;
}
