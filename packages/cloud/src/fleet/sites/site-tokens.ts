import { type api, type Input, SiteToken } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Shown } from "../../calls/serve/again.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import { grantCredential, toTokenFacts, type WithTokenFacts, withTokenFacts } from "../../calls/tokens/token-rows.ts";
import type { Complete } from "../../core/complete.ts";
import { throwNotFound } from "../../core/errors.ts";
import type { SiteTokenModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import { findSiteOfType, selectSite, siteGone } from "../../organization/projects/find-site.ts";
import { mintToken } from "../../process/credentials/mint.ts";

type Contract = typeof api.siteTokens;

export const siteTokens: Handlers<Contract> = {
  list: listSiteTokens,
  create: createSiteToken,
  delete: deleteSiteToken,
};

export const shownSiteToken: Shown = { schema: SiteToken, read: getSiteToken };

async function getSiteToken(ctx: Ctx, { id }: { readonly id: string }): Promise<Complete<SiteToken>> {
  const where = { id, orgId: ctx.caller.orgId };
  const row = await ctx.db.prisma.siteToken.findFirst({ where, ...withTokenFacts });
  return row ? toSiteToken(row) : throwNotFound(`site token ${id}`);
}

async function listSiteTokens(ctx: Ctx, query: Input<Contract["list"]>): Promise<Complete<SiteToken>[]> {
  const site = await selectSite(ctx, query.siteId);
  const rows = await ctx.db.prisma.siteToken.findMany({
    where: { orgId: ctx.caller.orgId, siteId: site?.id },
    orderBy: [{ createdAtNs: "asc" }, { id: "asc" }],
    take: query.limit,
    skip: query.offset,
    ...withTokenFacts,
  });
  return rows.map(toSiteToken);
}

/** These tokens authorize self-hosted primary and edge sites. spec: Authentication 5 */
async function createSiteToken(
  ctx: Ctx,
  { siteId, expiresAt }: Input<Contract["create"]>,
): Promise<Complete<SiteToken>> {
  const { orgId } = await findSiteOfType(ctx, siteId, ["self-hosted", "edge"]);
  const token = mintToken("dl_st");
  const credential = { create: await grantCredential(ctx, token, { expiresAt }) };
  const data = { id: newId("st"), orgId, siteId, credential, createdAtNs: ctx.clock.nowNs() };
  const row = await ctx.db.prisma.siteToken.create({ data, ...withTokenFacts }).catch(siteGone(siteId));
  return { ...toSiteToken(row), token };
}

async function deleteSiteToken(ctx: Ctx, { id }: Input<Contract["delete"]>): Promise<{ success: true }> {
  const where = { id, orgId: ctx.caller.orgId };
  const { count } = await ctx.db.prisma.siteToken.deleteMany({ where });
  if (count === 0) throwNotFound(`site token ${id}`);
  return { success: true };
}

function toSiteToken(row: SiteTokenModel & WithTokenFacts): Complete<SiteToken> {
  const { id, createdAtNs, siteId } = row;
  return { id, createdAt: createdAtNs, siteId, ...toTokenFacts(row) };
}
