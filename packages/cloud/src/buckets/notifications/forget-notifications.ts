import { NOTIFICATION_DAYS } from "@downlink/protocol";
import type { Deps } from "../../calls/context/context.ts";

const KEPT_NS = BigInt(NOTIFICATION_DAYS) * 86_400n * 1_000_000_000n;
const BATCH = 50_000;

/** Forgets the ids of notifications that came so long ago that no repeat is recognized any more. */
export async function forgetNotifications({ db, clock }: Pick<Deps, "db" | "clock">): Promise<void> {
  const untilNs = clock.nowNs() - KEPT_NS;
  for (let count = BATCH; count === BATCH; )
    count = await db.prisma.$executeRaw`
      DELETE FROM "BucketNotification" WHERE ctid IN (
        SELECT ctid FROM "BucketNotification" WHERE "receivedAtNs" < ${untilNs} ORDER BY "receivedAtNs" LIMIT ${BATCH})`;
}
