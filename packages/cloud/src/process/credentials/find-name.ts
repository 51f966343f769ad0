import type { PersonCaller } from "../../core/callers.ts";
import type { Transaction } from "../../db/transaction.ts";

/** Returns the name of a key, or the e-mail address of a member; undefined if it was deleted at this moment. */
export async function findName(
  tx: Pick<Transaction, "apiKey" | "account">,
  caller: PersonCaller,
): Promise<string | undefined> {
  if (caller.kind === "apiKey")
    return (await tx.apiKey.findUnique({ where: { id: caller.keyId }, select: { name: true } }))?.name;
  return (await tx.account.findUnique({ where: { id: caller.accountId }, select: { email: true } }))?.email;
}
