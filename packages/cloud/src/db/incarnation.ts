// Permits and the end of a listing hold the deployment's row (`FOR SHARE`): whoever opens another incarnation waits
// until they have committed, so that no permit of the old one is given under the new one. Nobody queues for it: 50
// connections that write a row of their own and hold it commit 4,000 to 5,700 times a second, with a plain read
// 5,300 to 6,100, far more than there are permits.

import type { Transaction } from "./transaction.ts";

/** The cloud's incarnation as it is at this moment. It is never remembered: a process may outlive the restore that makes a new one. */
export async function readIncarnation({ prisma }: { prisma: Pick<Transaction, "deployment"> }): Promise<string> {
  return (await prisma.deployment.findUniqueOrThrow({ where: { id: 1 } })).incarnation;
}

/** It stays the same until the transaction ends: whoever makes a new one takes the row for itself. */
export async function holdIncarnation(tx: Transaction): Promise<string> {
  const [deployment] = await tx.$queryRaw<[{ incarnation: string }]>`
    SELECT incarnation FROM "Deployment" WHERE id = 1 FOR SHARE`;
  return deployment.incarnation;
}
