// A site serves all projects, or those that it names. A key that is limited to some projects sees the sites that serve one of its own,
// without the numbers and names that their agents report, because these would reveal other projects. An edge site's agent acts only in the
// projects of its site: a name means a device of those projects or creates one there. In a project that the site does not serve any more,
// existing files stay and can be imported (`edge/report/find-kept-places.ts`); new files are `unassigned` with `ProjectNotOfSite`, even those whose
// device the site knew by name, because otherwise they would go to a device of that name in another project. A call that shortens the list
// is answered once the report in progress has ended, so that nothing is created after the answer.

import type { AgentModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";

/** The projects in which an agent acts; undefined: all projects that its files can belong to. */
export type ServedProjects = readonly string[] | undefined;

/** Reads the present projects of the agent's site. A device's agent acts for the device, in the device's project. */
export async function readServedProjects(tx: Transaction, { siteId }: AgentModel): Promise<ServedProjects> {
  if (siteId === null) return undefined;
  const { projectIds } = await tx.site.findUniqueOrThrow({ where: { id: siteId }, select: { projectIds: true } });
  return projectIds.length === 0 ? undefined : projectIds;
}

export function isServed(served: ServedProjects, projectId: string): boolean {
  return served === undefined || served.includes(projectId);
}
