import { CommandError } from "../../core/command-error.ts";
import type { SiteModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";

/** Finds the self-hosted site that an operator names by its id or its name. */
export async function findSelfHosted(db: Pick<Transaction, "site">, name: string): Promise<SiteModel> {
  const [found, another] = await db.site.findMany({
    where: { type: "self-hosted", OR: [{ id: name }, { name }] },
    take: 2,
  });
  if (!found) throw new CommandError(`there is no self-hosted site "${name}"`);
  if (another) throw new CommandError(`several sites are named "${name}": give the id`);
  return found;
}
