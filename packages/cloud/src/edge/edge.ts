import { api, type Input, type Output } from "@downlink/protocol";
import { z } from "zod";
import type { AgentCtx } from "../calls/context/context.ts";
import type { Handlers } from "../calls/serve/handlers.ts";
import type { Complete } from "../core/complete.ts";
import { failCut } from "../fleet/agents/cuts.ts";
import { withLease } from "../fleet/agents/lease.ts";
import { failSalvage } from "../fleet/agents/salvages.ts";
import { askPermits } from "./deleting/permits.ts";
import { report } from "./report/report.ts";
import { enroll } from "./standing/enroll.ts";
import { composePart, grantPieces } from "./uploads/pieces.ts";
import { requestImports } from "./uploads/request-imports.ts";
import { completeUpload, failImport, grantParts, openUpload } from "./uploads/uploads.ts";
import { hello } from "./work/hello.ts";

/** All operations but the work, which has a route of its own because it waits. */
const { work: _, ...contract } = api.edge;
type Contract = typeof contract;

/** The operations that agents call. spec: edge agent §3 */
const handlers: Handlers<Contract> = {
  enroll,
  hello,
  report,
  requestImports,
  openUpload,
  grantParts,
  grantPieces,
  composePart,
  completeUpload,
  failImport,
  askPermits,
  failSalvage,
  failCut,
  status: storeStatus,
};

export const edge = { contract, handlers };

async function storeStatus(
  ctx: AgentCtx,
  body: Input<Contract["status"]>,
): Promise<Complete<Output<Contract["status"]>>> {
  const status = z.encode(api.edge.status.body, body);
  const serverTime = ctx.clock.nowNs();
  const { isRenewed, incarnation } = await ctx.renewals.renew(ctx.caller, status);
  if (isRenewed) {
    ctx.noteIncarnation(incarnation);
    return { serverTime };
  }
  // An agent that cannot have the row at once asks by itself: it gets the reason, or waits for the transaction that has the row.
  return withLease(ctx, async (tx, agent) => {
    await tx.agent.update({ where: { id: agent.id }, data: { status } });
    return { serverTime: ctx.clock.nowNs() };
  });
}
