import type { Database } from "../../db/client.ts";
import type { SiteBucketModel } from "../../db/generated/models.ts";
import { type Judge, judgeBy } from "./judge-name.ts";
import { findPolicy, policyOf } from "./stored-policy.ts";

/** A bring-your-own-bucket site with its policy of this moment. */
export interface SiteWithPolicy {
  readonly orgId: string;
  readonly siteId: string;
  readonly bucket: SiteBucketModel;
  /** The projects that it is for; an empty list stands for all. */
  readonly projectIds: readonly string[];
  /** 0: none was ever saved. */
  readonly policyRevision: number;
  readonly judge: Judge;
}

/** Undefined if the site is gone or is no bucket. */
export async function findSiteWithPolicy(
  { prisma }: Pick<Database, "prisma">,
  siteId: string,
): Promise<SiteWithPolicy | undefined> {
  const site = await prisma.site.findUnique({ where: { id: siteId }, include: { bucket: true } });
  if (!site?.bucket) return undefined;
  const policy = await findPolicy(prisma, siteId);
  return {
    orgId: site.orgId,
    siteId,
    bucket: site.bucket,
    projectIds: site.projectIds,
    policyRevision: policy?.revision ?? 0,
    judge: judgeBy(policy ? policyOf(policy) : undefined),
  };
}
