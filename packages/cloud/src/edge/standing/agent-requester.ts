import type { Requester } from "@downlink/protocol";
import type { AgentModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import { readOwner } from "../../process/polls/agent-owner.ts";

/**
 * Returns the requester of an import that a user requests on the agent's device or at its site. Call this only while the agent's lease is
 * held.
 */
export async function agentRequester(tx: Transaction, agent: AgentModel): Promise<Requester> {
  const owner = await readOwner(tx, agent);
  if ("device" in owner) return { kind: "device", id: owner.device.id, name: owner.device.name };
  return { kind: "site", id: owner.site.id, name: owner.site.name };
}
