// If a request's end becomes obsolete (its data was deleted, or a failure was taken back), the agent gets that as an entry of its work with
// an id of its own, because an acknowledgement of the end itself may still be on its way. Agents that do not know such entries acknowledge
// them all the same.

import type { AgentModel, ImportRequestModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import { terminalStates } from "../../import-life/import-request-state.ts";

const OVER = ".over";

/**
 * Returns the id under which the agent acknowledges a request. The news that its end is obsolete has an id of its own, because an
 * acknowledgement of the end may still be on its way.
 */
export function acknowledgementIdOf({ id, isOver }: Pick<ImportRequestModel, "id" | "isOver">): string {
  return isOver ? id + OVER : id;
}

/** The agent knows how these requests ended, so they leave its work. */
export async function acknowledge(tx: Transaction, agent: AgentModel, acknowledged: readonly string[]): Promise<void> {
  if (acknowledged.length === 0) return;
  const [over, ended] = [
    acknowledged.filter((id) => id.endsWith(OVER)),
    acknowledged.filter((id) => !id.endsWith(OVER)),
  ];
  const ids = { false: ended, true: over.map((id) => id.slice(0, -OVER.length)) };
  for (const isOver of [false, true])
    await tx.importRequest.updateMany({
      where: { id: { in: ids[`${isOver}`] }, isOver, agentId: agent.id, state: { in: [...terminalStates] } },
      data: { isAcknowledged: true },
    });
}
