import type { api, Input, Output, WantedSalvage } from "@downlink/protocol";
import type { Moment } from "../../background/jobs/transaction-context.ts";
import type { AgentCtx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import { refuse, throwNotFound } from "../../core/errors.ts";
import type { SalvageRequestModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import { withLease } from "./lease.ts";

/**
 * The life of a salvage request. A request that is no longer in the agent's work was made, has failed, or is not wanted any more.
 *
 * ┌──────────── request again ───────────┐
 * ▼                                      │
 * (request) ─▶ requested ── the agent cannot ─▶ failed ─────┤
 * │  │ └──── the file changed or went ─▶ gone┘
 * │  └───── its salvage was reported ───▶ made (also from gone)
 * └── the file itself was finished ─────▶ superseded (also from gone, and from made while that is not delivered)
 */
export type SalvageState = SalvageRequestModel["state"];

/** Finds at most `take` requests, the first ones by priority and order. */
export async function wantedSalvages(
  tx: Transaction,
  agentId: string,
  take?: number,
): Promise<Complete<WantedSalvage>[]> {
  const rows = await tx.salvageRequest.findMany({
    where: { agentId, state: "requested" },
    orderBy: [{ priority: "desc" }, { createdAtNs: "asc" }, { id: "asc" }],
    take,
  });
  return rows.map(({ id, versionId }) => ({ requestId: id, versionId }));
}

type FailSalvage = typeof api.edge.failSalvage;

/** The agent reports that it cannot salvage anything. A request that ended otherwise meanwhile keeps its state. */
export async function failSalvage(ctx: AgentCtx, input: Input<FailSalvage>): Promise<Complete<Output<FailSalvage>>> {
  const { requestId, versionId, code, text } = input;
  return withLease(ctx, async (tx, agent) => {
    const request = await tx.salvageRequest.findFirst({ where: { id: requestId, agentId: agent.id } });
    if (!request) throwNotFound(`salvage request ${requestId}`);
    const { count } = await tx.salvageRequest.updateMany({
      where: { id: requestId, versionId, state: "requested" },
      data: { state: "failed", reasonCode: code, reasonText: text, updatedAtNs: ctx.clock.nowNs() },
    });
    if (count === 0) refuse("RequestSuperseded", `salvage request ${requestId} is ${request.state}`);
    return { requestId };
  });
}

interface Ending {
  readonly agentId: string;
  /** The ids of the versions that changed or are gone. */
  readonly versionIds: readonly string[];
}

export async function endSalvages({ tx, nowNs }: Moment, { agentId, versionIds }: Ending): Promise<void> {
  await tx.salvageRequest.updateMany({
    where: { agentId, versionId: { in: [...versionIds] }, state: "requested" },
    data: { state: "gone", updatedAtNs: nowNs },
  });
}
