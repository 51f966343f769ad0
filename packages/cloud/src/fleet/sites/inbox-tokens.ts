import { type api, InboxToken, type Input } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Shown } from "../../calls/serve/again.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import { grantCredential, toTokenFacts, type WithTokenFacts, withTokenFacts } from "../../calls/tokens/token-rows.ts";
import type { Complete } from "../../core/complete.ts";
import { throwNotFound } from "../../core/errors.ts";
import type { InboxTokenModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import { findSiteOfType, selectSite, siteGone, visibleSites } from "../../organization/projects/find-site.ts";
import { mintToken } from "../../process/credentials/mint.ts";

type Contract = typeof api.inboxTokens;

export const inboxTokens: Handlers<Contract> = {
  list: listInboxTokens,
  create: createInboxToken,
  delete: deleteInboxToken,
};

export const shownInboxToken: Shown = { schema: InboxToken, read: getInboxToken };

async function getInboxToken(ctx: Ctx, { id }: { readonly id: string }): Promise<Complete<InboxToken>> {
  const where = { id, orgId: ctx.caller.orgId, site: visibleSites(ctx) };
  const row = await ctx.db.prisma.inboxToken.findFirst({ where, ...withTokenFacts });
  return row ? toInboxToken(row) : throwNotFound(`inbox notification token ${id}`);
}

async function listInboxTokens(ctx: Ctx, query: Input<Contract["list"]>): Promise<Complete<InboxToken>[]> {
  const site = await selectSite(ctx, query.siteId);
  const rows = await ctx.db.prisma.inboxToken.findMany({
    where: { orgId: ctx.caller.orgId, siteId: site?.id, site: visibleSites(ctx) },
    orderBy: [{ createdAtNs: "asc" }, { id: "asc" }],
    take: query.limit,
    skip: query.offset,
    ...withTokenFacts,
  });
  return rows.map(toInboxToken);
}

/**
 * These tokens are for self-managed primary sites and for those with the customer's own storage. spec: Site token and site inbox
 * notification token
 */
async function createInboxToken(
  ctx: Ctx,
  { siteId, expiresAt, ...senders }: Input<Contract["create"]>,
): Promise<Complete<InboxToken>> {
  const { orgId } = await findSiteOfType(ctx, siteId, ["self-hosted", "byob"]);
  const token = mintToken("dl_snt");
  const credential = { create: await grantCredential(ctx, token, { expiresAt }) };
  const data = { id: newId("snt"), orgId, siteId, ...senders, credential, createdAtNs: ctx.clock.nowNs() };
  const row = await ctx.db.prisma.inboxToken.create({ data, ...withTokenFacts }).catch(siteGone(siteId));
  return { ...toInboxToken(row), token };
}

async function deleteInboxToken(ctx: Ctx, { id }: Input<Contract["delete"]>): Promise<{ id: string }> {
  const { count } = await ctx.db.prisma.inboxToken.deleteMany({ where: { id, orgId: ctx.caller.orgId } });
  return count === 1 ? { id } : throwNotFound(`inbox notification token ${id}`);
}

function toInboxToken(row: InboxTokenModel & WithTokenFacts): Complete<InboxToken> {
  const { id, orgId, createdAtNs, siteId } = row;
  return {
    ...{ id, orgId, createdAt: createdAtNs, siteId },
    snsTopicArn: row.snsTopicArn ?? undefined,
    pubsubAudience: row.pubsubAudience ?? undefined,
    pubsubServiceAccount: row.pubsubServiceAccount ?? undefined,
    ...toTokenFacts(row),
  };
}
