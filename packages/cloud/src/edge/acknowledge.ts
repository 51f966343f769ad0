// An end that counts no more (data deleted, a failure taken back) is told to the agent as an entry of its work with
// an id of its own, because an acknowledgement of the end itself may still be on its way. Agents that do not know of
// it acknowledge it all the same.

import type { AgentModel, ImportRequestModel } from "../db/generated/models.ts";
import type { Transaction } from "../db/transaction.ts";
import { terminalStates } from "../import-life/import-request-state.ts";

const OVER = ".over";

/**
 * The id under which the agent acknowledges a request: that its end counts no more has one of its own, because an acknowledgement of the end
 * may still be on its way.
 */
export function acknowledgedAs({ id, isOver }: Pick<ImportRequestModel, "id" | "isOver">): string {
  return isOver ? id + OVER : id;
}

/** The agent knows how these requests ended: they leave its work. */
export async function acknowledge(tx: Transaction, agent: AgentModel, said: readonly string[]): Promise<void> {
  if (said.length === 0) return;
  const [over, ended] = [said.filter((id) => id.endsWith(OVER)), said.filter((id) => !id.endsWith(OVER))];
  const ids = { false: ended, true: over.map((id) => id.slice(0, -OVER.length)) };
  for (const isOver of [false, true])
    await tx.importRequest.updateMany({
      where: { id: { in: ids[`${isOver}`] }, isOver, agentId: agent.id, state: { in: [...terminalStates] } },
      data: { isAcknowledged: true },
    });
}
