import type { api, Input, Output, WantedCut } from "@downlink/protocol";
import type { Moment, TransactionContext } from "../../background/jobs/transaction-context.ts";
import type { AgentCtx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import { refuse, throwNotFound } from "../../core/errors.ts";
import type { Prisma } from "../../db/generated/client.ts";
import type { Transaction } from "../../db/transaction.ts";
import { cancelRequests } from "../../import-life/change-request.ts";
import { withLease } from "./lease.ts";

/**
 * The agent keeps the file of a cut until it is imported, or is not wanted any more. A cut is removed where it is cancelled, and with the data of
 * its recording.
 *
 * (request) ─▶ requested ─── its file was reported ──▶ made: its recording has an import of its own
 *                  └── the agent cannot, or the file changed or went ──▶ failed
 */
export const wantedCut: Prisma.CutWhereInput = {
  OR: [{ state: "requested" }, { state: "made", recording: { importStatus: { in: ["pending", "importing"] } } }],
};

/** Finds all cuts that are wanted of an agent, the first ones by priority and order. */
export async function wantedCuts(tx: Transaction, agentId: string): Promise<Complete<WantedCut>[]> {
  const rows = await tx.cut.findMany({
    where: { agentId, ...wantedCut },
    orderBy: [{ priority: "desc" }, { createdAtNs: "asc" }, { id: "asc" }],
  });
  return rows.map(({ id, versionId, topics, startNs: start, endNs: end, state }) => ({
    ...{ requestId: id, versionId, topics, start, end, isMade: state === "made" },
  }));
}

type FailCut = typeof api.edge.failCut;

/** The agent reports that it cannot cut the file. A cut that was made meanwhile keeps its state. */
export async function failCut(ctx: AgentCtx, input: Input<FailCut>): Promise<Complete<Output<FailCut>>> {
  const { requestId, versionId, code, text } = input;
  return withLease(ctx, async (tx, agent) => {
    const cut = await tx.cut.findFirst({ where: { id: requestId, agentId: agent.id } });
    if (!cut) throwNotFound(`cut ${requestId}`);
    const { count } = await tx.cut.updateMany({
      where: { id: requestId, versionId, state: "requested" },
      data: { state: "failed", reasonCode: code, reasonText: text, updatedAtNs: ctx.clock.nowNs() },
    });
    if (count === 0) refuse("RequestSuperseded", `the cut ${requestId} is ${cut.state}`);
    return { requestId };
  });
}

/** The whole recording is imported: parts of it that were not delivered are wanted no more. */
export async function endCutsOf(context: TransactionContext, wholeId: string): Promise<void> {
  const { tx } = context;
  await tx.cut.deleteMany({ where: { wholeId, state: "requested" } });
  const pending = await tx.$queryRaw<{ id: string }[]>`
    SELECT r.id FROM "Recording" r JOIN "Cut" c ON c."recordingId" = r.id
    WHERE c."wholeId" = ${wholeId} AND r."importStatus" = 'pending' ORDER BY r.id FOR UPDATE OF r`;
  const ids = pending.map(({ id }) => id);
  if (ids.length === 0) return;
  await cancelRequests(context, ids);
  await tx.recording.updateMany({ where: { id: { in: ids } }, data: { importStatus: "none" } });
}

interface Ending {
  readonly agentId: string;
  /** The ids of the versions that changed or are gone. */
  readonly versionIds: readonly string[];
}

export async function endCuts({ tx, nowNs }: Moment, { agentId, versionIds }: Ending): Promise<void> {
  await tx.cut.updateMany({
    where: { agentId, versionId: { in: [...versionIds] }, state: "requested" },
    data: {
      ...{ state: "failed", reasonCode: "FileGone", updatedAtNs: nowNs },
      reasonText: "the file is no longer on the device, or was changed",
    },
  });
}
