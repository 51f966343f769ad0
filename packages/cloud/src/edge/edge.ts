import { api, type Input, type Output } from "@downlink/protocol";
import { z } from "zod";
import type { AgentCtx } from "../context.ts";
import type { Handlers } from "../http/serve.ts";
import { enroll } from "./enroll.ts";
import { hello } from "./hello.ts";
import { withLease } from "./lease.ts";
import { askPermits } from "./permits.ts";
import { composePart, grantPieces } from "./pieces.ts";
import { report } from "./report.ts";
import { requestImports } from "./request-imports.ts";
import { failSalvage } from "./salvages.ts";
import { completeUpload, failImport, grantParts, openUpload } from "./uploads.ts";
import { getWork } from "./work.ts";

type Contract = typeof api.edge;

/** What agents call. spec: edge agent §3 */
export const edge: Handlers<Contract> = {
  enroll,
  hello,
  report,
  work: getWork,
  requestImports,
  openUpload,
  grantParts,
  grantPieces,
  composePart,
  completeUpload,
  failImport,
  askPermits,
  failSalvage,
  status: storeStatus,
};

async function storeStatus(ctx: AgentCtx, body: Input<Contract["status"]>): Promise<Output<Contract["status"]>> {
  const status = z.encode(api.edge.status.body, body);
  return withLease(ctx, async (tx, agent) => {
    await tx.agent.update({ where: { id: agent.id }, data: { status } });
    return { serverTime: ctx.clock.nowNs() };
  });
}
