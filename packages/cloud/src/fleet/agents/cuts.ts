import type { api, CutFailure, Input, Output, WantedCut } from "@downlink/protocol";
import type { Moment, TransactionContext } from "../../background/jobs/transaction-context.ts";
import type { AgentCtx, Deps } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import { refuse, throwNotFound } from "../../core/errors.ts";
import type { Prisma } from "../../db/generated/client.ts";
import type { CutModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import { cancelRequests } from "../../import-life/change-request.ts";
import { publishRecording } from "../../import-life/recording-events.ts";
import { withLease } from "./lease.ts";

/**
 * The agent keeps the file of a cut until it is imported, or is not wanted any more. A cut is removed where it is cancelled, and with the data of
 * its recording.
 *
 * (request) ─▶ requested ─── its file was reported ──▶ made: its recording has an import of its own
 *                  └── the agent cannot, or the file changed or went ──▶ failed ── the disk was full an hour ago ──▶ requested
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
    if (cut.reasonCode !== code) await publishFailedCut({ tx, nowNs: ctx.clock.nowNs() }, { ...cut, code, text });
    return { requestId };
  });
}

interface FailedCut extends Pick<CutModel, "id" | "wholeId"> {
  readonly code: string;
  readonly text: string;
}

/** Publishes the failure of a part as one of its whole recording, which may be gone. The same failure is published once. */
async function publishFailedCut({ tx, nowNs }: Moment, { id, wholeId, code, text }: FailedCut): Promise<void> {
  if ((await tx.recording.count({ where: { id: wholeId } })) === 0) return;
  const more = { requestId: id, code, error: text };
  await publishRecording(tx, wholeId, { type: "recording.importFailed", occurredAtNs: nowNs, more });
}

const HOUR_NS = 3_600_000_000_000n;
/** A disk that had no room for so long after the request will have none. */
const ASK_AGAIN_NS = 7n * 24n * HOUR_NS;
/** An agent is asked again for so many at once, because the answers to it are bounded. */
const ASK_AGAIN_FOR = 10;

/**
 * Asks again, an hour later, for parts for which a disk had no room: the oldest of each agent that has no other to make. They keep the reason until
 * they are made, or fail for another one.
 */
export async function askForCutsAgain({ db, clock }: Pick<Deps, "db" | "clock">): Promise<void> {
  const nowNs = clock.nowNs();
  await db.prisma.$executeRaw`
    UPDATE "Cut" SET state = 'requested', "updatedAtNs" = ${nowNs} WHERE state = 'failed' AND id IN (
      SELECT id FROM (
        SELECT c.id, row_number() OVER (PARTITION BY c."agentId" ORDER BY c."createdAtNs", c.id) AS place FROM "Cut" c
        WHERE c.state = 'failed' AND c."reasonCode" = 'CutNoSpace' AND c."agentId" IS NOT NULL
          AND c."updatedAtNs" <= ${nowNs - HOUR_NS} AND c."createdAtNs" > ${nowNs - ASK_AGAIN_NS}
          AND NOT EXISTS (SELECT FROM "Cut" o WHERE o."agentId" = c."agentId" AND o.state = 'requested')
          AND NOT EXISTS (SELECT FROM "Recording" r WHERE r.id = c."wholeId" AND r."importStatus" = 'complete')
      ) AS waiting WHERE place <= ${ASK_AGAIN_FOR})`;
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
  const code: CutFailure = "FileGone";
  const text = "the file is no longer on the device, or was changed";
  const ended = await tx.cut.updateManyAndReturn({
    where: { agentId, versionId: { in: [...versionIds] }, state: "requested" },
    data: { state: "failed", reasonCode: code, reasonText: text, updatedAtNs: nowNs },
    select: { id: true, wholeId: true },
  });
  for (const cut of ended) await publishFailedCut({ tx, nowNs }, { ...cut, code, text });
}
