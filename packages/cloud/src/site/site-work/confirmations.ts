// Before a device may delete its copy of a file that lies at a self-hosted site, the site says that it has the file at that moment. The
// control plane cannot call a site, so the question is in the answer to the site's call for work, and the site's report is the answer.

import { type api, type Input, siteLimits } from "@downlink/protocol";
import type { SiteCtx } from "../../calls/context/context.ts";
import type { Transaction } from "../../db/transaction.ts";

type Answers = Pick<Input<(typeof api.site)["report"]>, "confirmed" | "missing">;

/** No call waits for an answer longer than this. */
const ASKED_NS = 60n * 1_000_000_000n;

/** Lists the objects that the site is asked for. */
export async function findQuestions(tx: Transaction, { caller: { siteId }, clock }: SiteCtx): Promise<string[]> {
  const rows = await tx.siteObject.findMany({
    where: { siteId, askedSinceNs: { gt: clock.nowNs() - ASKED_NS } },
    orderBy: { key: "asc" },
    take: siteLimits.itemsPerList,
    select: { key: true },
  });
  return rows.map(({ key }) => key);
}

/** Only an answer to a question counts, and only with the size that the site reported when it got the file. */
export async function noteConfirmations(tx: Transaction, ctx: SiteCtx, { confirmed, missing }: Answers): Promise<void> {
  const { siteId } = ctx.caller;
  const asked = { siteId, askedSinceNs: { not: null } };
  for (const { key, size } of confirmed) {
    const data = { askedSinceNs: null, confirmedAtNs: ctx.clock.nowNs() };
    await tx.siteObject.updateMany({ where: { ...asked, key, sizeBytes: BigInt(size) }, data });
  }
  if (missing.length === 0) return;
  await tx.siteObject.updateMany({ where: { ...asked, key: { in: missing } }, data: { askedSinceNs: null } });
}
