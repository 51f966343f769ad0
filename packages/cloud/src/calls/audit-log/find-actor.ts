import { type Caller, callerId, type PersonCaller } from "../../core/callers.ts";
import type { Transaction } from "../../db/transaction.ts";
import { findName } from "../../process/credentials/find-name.ts";
import type { Ctx } from "../context/context.ts";
import { type Actor, commandLine } from "./write-entry.ts";

/** Returns who calls, by the name that they have now: keys are renamed and deleted. */
export async function findActor(
  tx: Transaction,
  { caller, requestId, address }: Pick<Ctx, "requestId" | "address"> & { readonly caller: Caller },
): Promise<Actor> {
  const call = { address: address(), requestId };
  if (caller.kind !== "apiKey" && caller.kind !== "member")
    return { ...toTokenActor(caller), actorName: null, ...call };
  if (caller.kind === "apiKey" && caller.isCommandLine) return commandLine;
  return {
    actorKind: caller.kind,
    actorId: callerId(caller),
    actorName: (await findName(tx, caller)) ?? null,
    ...call,
  };
}

function toTokenActor({ kind, tokenId }: Exclude<Caller, PersonCaller>): Pick<Actor, "actorKind" | "actorId"> {
  const isSite = kind === "site" || kind === "inbox";
  return { actorKind: isSite ? "site" : "agent", actorId: tokenId };
}
