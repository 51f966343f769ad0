import type { api, Input, Output } from "@downlink/protocol";
import type { SiteCtx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import { refuse } from "../../core/errors.ts";
import type { Transaction } from "../../db/transaction.ts";
import { signRequest } from "../../keeping/manifests/request-manifest.ts";
import { isIndexingHeld } from "../../recovery/adoption-pass.ts";
import { findGiven } from "./report.ts";
import { withSiteLease } from "./site-lease.ts";
import { toState } from "./site-rows.ts";

type Inbox = (typeof api.site)["inbox"];
type Answer = Complete<Output<Inbox>>["files"][number];
type File = Input<Inbox>["files"][number];

/** Requests the imports of files in a site's inbox under ids that the site drew, and says what became of them. */
export function inbox(ctx: SiteCtx, { files }: Input<Inbox>): Promise<Complete<Output<Inbox>>> {
  return withSiteLease(ctx, async (tx) => {
    const created = files.filter(({ isNew }) => isNew);
    if (created.length > 0 && (await isIndexingHeld(tx)))
      refuse("Unavailable", "the control plane recovers; try again");
    await request(tx, ctx, created);
    const answers: Answer[] = [];
    for (const { requestId } of files) answers.push(await describe(tx, ctx, requestId));
    return { files: answers };
  });
}

/** The file itself says which project and device it is of, or its site is for one project only. */
async function request(tx: Transaction, { caller, clock }: SiteCtx, files: readonly File[]): Promise<void> {
  const { orgId, siteId } = caller;
  const times = { createdAtNs: clock.nowNs(), updatedAtNs: clock.nowNs() };
  const waiting = { source: "upload", state: "awaiting", pipelineStage: "In the inbox of its site" } as const;
  const data = files.map(({ requestId: id, filename }) => ({ id, filename, orgId, siteId, ...waiting, ...times }));
  await tx.importRequest.createMany({
    data: data.map((row) => ({ ...row, isAcknowledged: true })),
    skipDuplicates: true,
  });
}

async function describe(tx: Transaction, ctx: SiteCtx, requestId: string): Promise<Answer> {
  const found = await findGiven(tx, ctx, requestId);
  const state = toState(found);
  if (!found) return { requestId, state, request: undefined, reason: undefined };
  const reason = state === "error" ? `${found.errorCode}: ${found.errorText}` : undefined;
  return { requestId, state, request: signRequest(ctx.signer, found), reason };
}
