import type { api, Input, Output } from "@downlink/protocol";
import type { SiteCtx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import { keepNeeded } from "../../data/lake-files/needed-lakes.ts";
import { takeLakeFiles } from "../../data/lake-files/take-lake-files.ts";
import type { Transaction } from "../../db/transaction.ts";
import { holdForRemoval } from "../../recovery/held-deployment.ts";
import { withSiteLease } from "./site-lease.ts";

type LakeFiles = (typeof api.site)["lakeFiles"];
type Body = Pick<Input<(typeof api.site)["report"]>, "lakes" | "lakesRemoved" | "lakesRefused">;

export async function lakeFiles(ctx: SiteCtx, page: Input<LakeFiles>): Promise<Complete<Output<LakeFiles>>> {
  const { siteId } = ctx.caller;
  const answer = await withSiteLease(ctx, (tx) => takeLakeFiles({ tx, nowNs: ctx.clock.nowNs() }, { ...page, siteId }));
  return { state: answer.state, refusal: answer.refusal };
}

/** Takes the site's report about files by topic, and returns the imports whose files the site has and does not need. */
export async function noteLakes(tx: Transaction, ctx: SiteCtx, body: Body): Promise<string[]> {
  const { siteId } = ctx.caller;
  // Files that are needed again by now are made again.
  if (body.lakesRemoved.length > 0)
    await tx.lake.deleteMany({ where: { siteId, importId: { in: [...body.lakesRemoved] } } });
  for (const refused of body.lakesRefused) await noteRefused(tx, ctx, refused);
  return findUnneeded(tx, siteId, body.lakes);
}

async function noteRefused(
  tx: Transaction,
  { caller: { siteId }, clock }: SiteCtx,
  { importId, text }: Body["lakesRefused"][number],
): Promise<void> {
  if (!(await keepNeeded(tx, siteId, [importId])).has(importId)) return;
  const data = { state: "refused", refusal: text } as const;
  const create = { importId, siteId, createdAtNs: clock.nowNs(), ...data };
  await tx.lakeFile.deleteMany({ where: { importId } });
  await tx.lake.upsert({ where: { importId }, create, update: data });
}

/** While the deployment may lack what came after a backup, nothing is called unneeded. */
async function findUnneeded(tx: Transaction, siteId: string, importIds: readonly string[]): Promise<string[]> {
  if (importIds.length === 0 || (await holdForRemoval(tx)).danger !== undefined) return [];
  const needed = await keepNeeded(tx, siteId, importIds);
  return importIds.filter((importId) => !needed.has(importId));
}
