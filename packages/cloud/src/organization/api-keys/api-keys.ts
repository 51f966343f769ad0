import { ApiKey, type api, type Input } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Shown } from "../../calls/serve/again.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import { grantCredential, toTokenFacts, type WithTokenFacts, withTokenFacts } from "../../calls/tokens/token-rows.ts";
import type { Complete } from "../../core/complete.ts";
import { ApiError, invalid, refuse, throwNotFound } from "../../core/errors.ts";
import { Prisma } from "../../db/generated/client.ts";
import type { ApiKeyModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import { sortByIds } from "../../db/sort-by-ids.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { mintToken } from "../../process/credentials/mint.ts";
import { requireProjects } from "../projects/find-project.ts";
import { findLacking, isUnlimited, listGrants } from "./key-grants.ts";

type Contract = typeof api.apiKeys;

export const apiKeys: Handlers<Contract> = {
  list: listApiKeys,
  create: createApiKey,
  update: updateApiKey,
  delete: deleteApiKey,
};

export const shownKey: Shown = { schema: ApiKey, read: getApiKey };

async function getApiKey(ctx: Ctx, { id }: { readonly id: string }): Promise<Complete<ApiKey>> {
  const [found] = await ctx.db.prisma.$queryRaw<{ id: string }[]>`
    SELECT "id" FROM "ApiKey" WHERE "id" = ${id} AND ${visibleKeys(ctx)}`;
  if (!found) throwNotFound(`API key ${id}`);
  return toApiKey(ctx.db.prisma, await ctx.db.prisma.apiKey.findUniqueOrThrow({ where: { id }, ...withTokenFacts }));
}

async function listApiKeys(ctx: Ctx, { limit, offset }: Input<Contract["list"]>): Promise<Complete<ApiKey>[]> {
  const found = await ctx.db.prisma.$queryRaw<{ id: string }[]>`
    SELECT "id" FROM "ApiKey" WHERE ${visibleKeys(ctx)} ORDER BY "createdAtNs", "id" LIMIT ${limit} OFFSET ${offset}`;
  const ids = found.map(({ id }) => id);
  const rows = await ctx.db.prisma.apiKey.findMany({ where: { id: { in: ids } }, ...withTokenFacts });
  return toApiKeys(ctx.db.prisma, sortByIds(ids, rows));
}

async function createApiKey(ctx: Ctx, body: Input<Contract["create"]>): Promise<Complete<ApiKey>> {
  requireHeld(ctx, body.capabilities);
  const token = mintToken("dl_sk");
  const row = await ctx.db.prisma.apiKey.create({
    data: {
      id: newId("key"),
      orgId: ctx.caller.orgId,
      name: body.name,
      credential: { create: await grantCredential(ctx, token, body) },
      capabilities: [...new Set(body.capabilities)],
      projectIds: await grantProjects(ctx, body.projectIds),
      createdAtNs: ctx.clock.nowNs(),
    },
    ...withTokenFacts,
  });
  return { ...(await toApiKey(ctx.db.prisma, row)), token };
}

async function updateApiKey(ctx: Ctx, { id, ...changes }: Input<Contract["update"]>): Promise<Complete<ApiKey>> {
  return changeKey(ctx, id, async (tx, key) => {
    const capabilities = changes.capabilities ? [...new Set(changes.capabilities)] : key.capabilities;
    const after = { capabilities, enabled: changes.enabled ?? key.enabled };
    requireHeld(ctx, listGrants(key, after));
    const data = { ...after, name: changes.name ?? key.name };
    return toApiKey(tx, await tx.apiKey.update({ where: { id }, data, ...withTokenFacts }));
  });
}

async function deleteApiKey(ctx: Ctx, { id }: Input<Contract["delete"]>): Promise<{ id: string }> {
  return changeKey(ctx, id, async (tx) => {
    await tx.apiKey.delete({ where: { id } });
    return { id };
  });
}

type Change<T> = (tx: Transaction, key: ApiKeyModel) => Promise<T>;

/**
 * Changes of keys run one after another within an organization; otherwise two last keys could each be deleted while the other one still
 * exists. This process forgets the keys that it remembers before it answers, even if the change failed, because the change may have been
 * committed all the same.
 */
async function changeKey<T>(ctx: Ctx, id: string, change: Change<T>): Promise<T> {
  const { orgId } = ctx.caller;
  const changing = withTransaction(ctx.db, async (tx) => {
    await tx.$queryRaw`SELECT "id" FROM "Organization" WHERE "id" = ${orgId} FOR NO KEY UPDATE`;
    const where = Prisma.sql`"id" = ${id} AND ${visibleKeys(ctx)}`;
    const [key] = await tx.$queryRaw<ApiKeyModel[]>`SELECT * FROM "ApiKey" WHERE ${where}`;
    if (!key) throwNotFound(`API key ${id}`);
    const result = await change(tx, key);
    if (isUnlimited(key)) await requireUnlimitedKey(tx, orgId);
    return result;
  });
  return changing.finally(() => ctx.credentials.forgetAll());
}

/** A key that is limited to some projects sees only keys that are limited to the same or fewer projects. */
function visibleKeys({ caller }: Ctx): Prisma.Sql {
  const ofOrganization = Prisma.sql`"orgId" = ${caller.orgId}`;
  if (caller.projectIds.length === 0) return ofOrganization;
  return Prisma.sql`${ofOrganization} AND "projectIds" <> '{}' AND "projectIds" <@ ${[...caller.projectIds]}::text[]`;
}

function requireHeld({ caller }: Ctx, capabilities: readonly string[]): void {
  const missing = findLacking(caller.capabilities, capabilities);
  if (missing.length > 0)
    refuse("MissingCapability", `an API key grants only what it holds; this one lacks ${missing.join(", ")}`);
}

/** Returns the projects that the new key may see: never more than the caller sees. */
async function grantProjects(ctx: Ctx, given: readonly string[]): Promise<string[]> {
  if (given.length === 0 && ctx.caller.projectIds.length > 0)
    invalid("projectIds", "must name some of the projects to which this API key is limited");
  return requireProjects(ctx, given);
}

/** A key that expires does not count, because no unlimited key would be left after its end. */
async function requireUnlimitedKey(tx: Transaction, orgId: string): Promise<void> {
  const [left] = await tx.$queryRaw<object[]>`
    SELECT 1 FROM "ApiKey" k JOIN "Credential" c ON c."apiKeyId" = k.id
    WHERE k."orgId" = ${orgId} AND k."enabled" AND k."projectIds" = '{}' AND '*' = ANY(k."capabilities")
      AND c."expiresAtNs" IS NULL LIMIT 1`;
  if (!left)
    throw new ApiError("Conflict", "this is the last enabled API key of the organization that may do everything");
}

type KeyRow = ApiKeyModel & WithTokenFacts;

async function toApiKey(tx: Pick<Transaction, "member">, row: KeyRow): Promise<Complete<ApiKey>> {
  const [key] = await toApiKeys(tx, [row]);
  return key!;
}

async function toApiKeys(tx: Pick<Transaction, "member">, rows: readonly KeyRow[]): Promise<Complete<ApiKey>[]> {
  const facts = rows.map(toTokenFacts);
  const makerIds = facts.flatMap(({ createdBy }) => (createdBy?.kind === "member" ? [createdBy.id] : []));
  const where = { id: { in: makerIds }, role: "admin" } as const;
  const admins = new Set((await tx.member.findMany({ where, select: { id: true } })).map(({ id }) => id));
  return rows.map(({ id, name, capabilities, projectIds, createdAtNs, enabled }, at) => {
    const { createdBy } = facts[at]!;
    const createdByFormerAdmin = createdBy?.kind === "member" && !admins.has(createdBy.id);
    return { id, name, capabilities, projectIds, createdAt: createdAtNs, enabled, createdByFormerAdmin, ...facts[at]! };
  });
}
