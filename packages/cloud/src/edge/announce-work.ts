import type { Deps } from "../context.ts";
import type { ImportRequestModel } from "../db/generated/models.ts";
import { ownerId } from "./agent-owner.ts";

/** Wakes the agent that is asked for a file, if one is; call it after the commit. */
export async function announceToAgent(
  { db, workSignals }: Pick<Deps, "db" | "workSignals">,
  { agentId }: Pick<ImportRequestModel, "agentId">,
): Promise<void> {
  const agent = agentId === null ? null : await db.prisma.agent.findUnique({ where: { id: agentId } });
  if (agent) await workSignals.announce(ownerId(agent));
}
