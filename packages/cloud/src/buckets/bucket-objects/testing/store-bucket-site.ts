import type { Prisma } from "../../../db/generated/client.ts";
import type { SiteModel } from "../../../db/generated/models.ts";
import { newId } from "../../../db/ids.ts";
import type { TestCloud } from "../../../testing/start-cloud.ts";

type Bucket = Partial<Omit<Prisma.SiteBucketUncheckedCreateInput, "siteId">>;

/** Whose the site is: by default of the first organization, and for all of its projects. */
export type SiteOwner = Partial<Pick<SiteModel, "orgId" | "projectIds">>;

/** Stores a bring-your-own-bucket site. */
export async function storeBucketSite(
  { deps }: Pick<TestCloud, "deps">,
  bucket: Bucket,
  { orgId, projectIds = [] }: SiteOwner = {},
): Promise<SiteModel> {
  const first = await deps.db.prisma.organization.findFirstOrThrow({ orderBy: { createdAtNs: "asc" } });
  const id = newId("site");
  const given = { provider: "s3_compatible", bucket: "robots", ...bucket } as const;
  const data = {
    id,
    orgId: orgId ?? first.id,
    projectIds,
    name: id,
    type: "byob",
    createdAtNs: deps.clock.nowNs(),
    bucket: { create: given },
  } as const;
  return deps.db.prisma.site.create({ data });
}
