import type { Requester } from "@downlink/protocol";
import type { AgentModel } from "../db/generated/models.ts";
import type { Transaction } from "../db/transaction.ts";
import { readOwner } from "../polls/agent-owner.ts";

/** Somebody on the agent's device or at its site as who asks for an import. Only while the caller holds the lease. */
export async function agentRequester(tx: Transaction, agent: AgentModel): Promise<Requester> {
  const owner = await readOwner(tx, agent);
  if ("device" in owner) return { kind: "device", id: owner.device.id, name: owner.device.name };
  return { kind: "site", id: owner.site.id, name: owner.site.name };
}
