import type { AgentModel } from "../db/generated/models.ts";
import type { Transaction } from "../db/transaction.ts";

/** The projects for which an agent acts; undefined: all that its files can be of. */
export type ServedProjects = readonly string[] | undefined;

/** Those of its site, as they are now; what a device's agent has is the device's, in the device's project. */
export async function readServedProjects(tx: Transaction, { siteId }: AgentModel): Promise<ServedProjects> {
  if (siteId === null) return undefined;
  const { projectIds } = await tx.site.findUniqueOrThrow({ where: { id: siteId }, select: { projectIds: true } });
  return projectIds.length === 0 ? undefined : projectIds;
}

export function isServed(served: ServedProjects, projectId: string): boolean {
  return served === undefined || served.includes(projectId);
}
