import type { Requester } from "@downlink/protocol";
import type { Ctx } from "../context/context.ts";
import type { Transaction } from "../db/transaction.ts";

/** The calling API key as who asks for an import; by the name of this moment, because keys are renamed and deleted. */
export async function findRequester(tx: Transaction, { caller }: Pick<Ctx, "caller">): Promise<Requester> {
  const key = await tx.apiKey.findUnique({ where: { id: caller.keyId }, select: { name: true } });
  return { kind: "apiKey", id: caller.keyId, name: key?.name };
}
