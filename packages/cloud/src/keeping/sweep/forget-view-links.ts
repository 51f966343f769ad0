import type { Database } from "../../db/client.ts";

/** Removes the rows of links that have expired and whose keys made no other one since. */
export async function forgetViewLinks({ prisma }: Pick<Database, "prisma">, nowNs: bigint): Promise<void> {
  await prisma.viewLink.deleteMany({ where: { expiresAtNs: { lte: nowNs } } });
}
