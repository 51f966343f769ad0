import { commandLine, writeEntry } from "../../calls/audit-log/write-entry.ts";
import type { Deps } from "../../calls/context/context.ts";
import type { SiteModel } from "../../db/generated/models.ts";
import { withTransaction } from "../../db/transaction.ts";
import { findSelfHosted } from "../../organization/projects/find-self-hosted.ts";

type Strategy = SiteModel["indexingStrategy"];

export interface Indexing {
  readonly strategy: Strategy;
  readonly listed: number;
  /** Recordings of which no files by topic can be made, with the reason. */
  readonly refused: readonly string[];
}

/**
 * Sets whether a self-hosted site makes files by topic, or only tells it. Setting it forgets what was refused, so that it is tried again.
 * The site makes or removes files as soon as it is connected.
 */
export async function setIndexing(
  { db, clock }: Pick<Deps, "db" | "clock">,
  { name, strategy }: { readonly name: string; readonly strategy: Strategy | undefined },
): Promise<Indexing> {
  const { prisma } = db;
  const site = await findSelfHosted(prisma, name);
  const { id: siteId } = site;
  if (strategy) {
    const change = { operation: "site indexing", resourceKind: "site", resourceId: siteId } as const;
    const states = { before: { indexingStrategy: site.indexingStrategy }, after: { indexingStrategy: strategy } };
    await withTransaction(db, async (tx) => {
      await tx.site.update({ where: { id: siteId }, data: { indexingStrategy: strategy } });
      await tx.lake.deleteMany({ where: { siteId, state: "refused" } });
      await writeEntry(tx, commandLine, { orgId: site.orgId, nowNs: clock.nowNs(), ...change, ...states });
    });
  }
  const refused = await prisma.lake.findMany({ where: { siteId, state: "refused" }, orderBy: { importId: "asc" } });
  return {
    strategy: strategy ?? site.indexingStrategy,
    listed: await prisma.lake.count({ where: { siteId, state: "listed" } }),
    refused: refused.map(({ importId, refusal }) => `${importId}: ${refusal}`),
  };
}
