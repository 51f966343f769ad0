import type { Requester } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { callerId } from "../../core/callers.ts";
import type { Transaction } from "../../db/transaction.ts";
import { findName } from "../../process/credentials/find-name.ts";

/** Returns who calls as the requester of an import. The present name is stored too, because keys are renamed and deleted. */
export async function findRequester(tx: Transaction, { caller }: Pick<Ctx, "caller">): Promise<Requester> {
  return { kind: caller.kind, id: callerId(caller), name: await findName(tx, caller) };
}
