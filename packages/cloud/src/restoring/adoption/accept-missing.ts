import { withTransaction } from "../../db/transaction.ts";
import { nextPass } from "../../recovery/adoption-pass.ts";
import type { AdoptionDeps } from "./adopt-imported.ts";

/** An admin declares that the store is the right one, and that its objects are lost. Returns false if the walk has not asked. */
export function acceptMissing({ db }: Pick<AdoptionDeps, "db">): Promise<boolean> {
  return withTransaction(db, async (tx) => {
    const { count } = await tx.adoption.updateMany({
      where: { id: 1, pass: "asking" },
      data: { pass: nextPass("asking", "accept")!, doneUntil: "", beatAtNs: null },
    });
    return count > 0;
  });
}
