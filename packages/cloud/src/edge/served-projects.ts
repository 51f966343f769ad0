// Sites are for all projects or for those that they name; who is limited to some sees those that serve one of its
// own, without what their agents count and name, because that would reveal other projects. An edge site's agent acts only
// in the projects of its site: a name means a device of those or makes one there. Of a project that the site is not
// for any more, what is there stays and can be imported (`edge/kept-places.ts`); new files are `unassigned` with
// `ProjectNotOfSite`, also those whose device the site knew by its name, because else they would go to another
// project's device of that name. A shorter list is answered once the report under way has ended, so that nothing
// comes after it.

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
