// `device.offline` is published five minutes after the lease has ended, once until the agent comes back: a link that comes and goes is no
// news. Lists show `online` as long as the lease lives.

import { formatTimestamp } from "@downlink/protocol";
import { writeEvents } from "../../background/outbox/outbox.ts";
import type { Deps } from "../../calls/context/context.ts";
import { withTransaction } from "../../db/transaction.ts";

/** The time after the end of the lease: a link that comes and goes is no news. */
const SILENT_NS = 300n * 1_000_000_000n;

/** Publishes one event for each device whose agent was not heard of for so long. spec: wire contract §6, `device.offline` */
export async function noteOffline({ db, clock }: Pick<Deps, "db" | "clock">): Promise<void> {
  const nowNs = clock.nowNs();
  await withTransaction(db, async (tx) => {
    const silent = await tx.agent.updateManyAndReturn({
      where: { isOnline: true, leaseExpiresAtNs: { lt: nowNs - SILENT_NS } },
      data: { isOnline: false },
      include: { device: { select: { id: true, name: true, projectId: true } } },
    });
    const events = silent.flatMap(({ orgId, lastSeenAtNs, device }) => {
      if (!device) return []; // the agent of a site
      const { projectId, ...summary } = device;
      const payload = { device: { ...summary, lastSeenAt: formatTimestamp(lastSeenAtNs) } };
      return [{ type: "device.offline" as const, orgId, projectId, occurredAtNs: nowNs, payload }];
    });
    await writeEvents(tx, events);
  });
}
