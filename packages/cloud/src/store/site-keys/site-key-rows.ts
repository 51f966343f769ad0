import { randomBytes } from "node:crypto";
import type { SiteKeyModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import type { Transaction } from "../../db/transaction.ts";
import { endedKeys, isKeyDue } from "./key-schedule.ts";

interface KeysOf {
  readonly siteId: string;
  /** That of the deployment now. */
  readonly incarnation: string;
  readonly nowNs: bigint;
}

/**
 * Makes the key that is due, removes those that have ended, and returns the others: all that the site is to accept. Keys from before a
 * restore end with it, because the backup does not know which of them were revoked.
 */
export async function keepKeys(tx: Transaction, { siteId, incarnation, nowNs }: KeysOf): Promise<SiteKeyModel[]> {
  await tx.siteKey.deleteMany({ where: { siteId, incarnation: { not: incarnation } } });
  const keys = await listKeys(tx, siteId);
  const ended = endedKeys(keys, nowNs);
  if (ended.length > 0) await tx.siteKey.deleteMany({ where: { id: { in: ended.map(({ id }) => id) } } });
  const kept = keys.filter((key) => !ended.includes(key));
  return isKeyDue(keys, nowNs) ? [...kept, await createKey(tx, { siteId, incarnation, nowNs })] : kept;
}

/** Lists the keys of a site in the order in which they were made. */
export function listKeys(tx: Pick<Transaction, "siteKey">, siteId: string): Promise<SiteKeyModel[]> {
  return tx.siteKey.findMany({ where: { siteId }, orderBy: [{ createdAtNs: "asc" }, { id: "asc" }] });
}

function createKey(tx: Transaction, { siteId, incarnation, nowNs }: KeysOf): Promise<SiteKeyModel> {
  const secret = randomBytes(32).toString("base64url");
  return tx.siteKey.create({ data: { id: newId("skey"), siteId, incarnation, secret, createdAtNs: nowNs } });
}
