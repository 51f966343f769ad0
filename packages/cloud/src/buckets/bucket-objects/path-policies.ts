import { isDeepStrictEqual } from "node:util";
import type { api, IngestPathPolicyRevision, Input, TriedPolicy } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import { type Complete, toComplete } from "../../core/complete.ts";
import { refuse, throwNotFound } from "../../core/errors.ts";
import type { IngestPathPolicyModel } from "../../db/generated/models.ts";
import { withTransaction } from "../../db/transaction.ts";
import { findSite } from "../../organization/projects/find-site.ts";
import { requireRules } from "./path-rules.ts";
import { findSiteWithPolicy } from "./site-with-policy.ts";
import { findPolicy, type PathPolicy, policyOf } from "./stored-policy.ts";
import { tryPolicy } from "./try-policy.ts";

type Contract = typeof api.ingestPathPolicies;

export const ingestPathPolicies: Handlers<Contract> = { get: getPolicy, save: savePolicy, tryOut };

async function getPolicy(ctx: Ctx, { id }: Input<Contract["get"]>): Promise<Complete<IngestPathPolicyRevision>> {
  await findBucketSite(ctx, id);
  return toRevision((await findPolicy(ctx.db.prisma, id)) ?? throwNotFound(`an ingest path policy of site ${id}`));
}

/** A revision is appended if the policy differs from the current one. spec: Save ingest path policy */
async function savePolicy(ctx: Ctx, input: Input<Contract["save"]>): Promise<Complete<IngestPathPolicyRevision>> {
  const { id: siteId, schemaVersion, rules, previousRevision } = input;
  await findBucketSite(ctx, siteId);
  requireRules(rules);
  const policy: PathPolicy = { schemaVersion, rules };
  return withTransaction(ctx.db, async (tx) => {
    const locked = await tx.$queryRaw<unknown[]>`SELECT id FROM "Site" WHERE id = ${siteId} FOR NO KEY UPDATE`;
    if (locked.length === 0) throwNotFound(`site ${siteId}`);
    const current = await findPolicy(tx, siteId);
    if (current && isDeepStrictEqual(current.policy, toJsonValue(policy))) return toRevision(current);
    const revision = current?.revision ?? 0;
    if (previousRevision !== undefined && previousRevision !== revision)
      refuse("Conflict", `the current revision of the policy is ${revision}, not ${previousRevision}`);
    const data = { siteId, revision: revision + 1, createdAtNs: ctx.clock.nowNs(), policy: toJsonValue(policy) };
    return toRevision(await tx.ingestPathPolicy.create({ data }));
  });
}

async function tryOut(ctx: Ctx, { id, rules }: Input<Contract["tryOut"]>): Promise<Complete<TriedPolicy>> {
  await findBucketSite(ctx, id);
  if (rules) requireRules(rules);
  const site = (await findSiteWithPolicy(ctx.db, id)) ?? throwNotFound(`site ${id}`);
  return tryPolicy(ctx, site, rules && { rules });
}

async function findBucketSite(ctx: Ctx, id: string): Promise<void> {
  const { type } = await findSite(ctx, id);
  if (type !== "byob") throwNotFound(`an ingest path policy of site ${id}, which is ${type}, not byob,`);
}

/** Returns the policy as it comes back from the database. */
function toJsonValue(policy: PathPolicy) {
  return JSON.parse(JSON.stringify(policy));
}

function toRevision(row: IngestPathPolicyModel): Complete<IngestPathPolicyRevision> {
  const { revision, createdAtNs: createdAt } = row;
  return { revision, createdAt, policy: toComplete(policyOf(row)) as IngestPathPolicyRevision["policy"] };
}
