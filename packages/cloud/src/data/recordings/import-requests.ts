// A call for many recordings is one transaction that selects, locks and changes, so that no other change comes in between. A filter with an
// unknown name is refused, against the rule that unknown keys are ignored, because it would select more than was intended. 10,000 of
// 100,000 recordings are queued in 3 s, and cancelled in the same time.

import { type api, BulkRefusal, type Input, type Output } from "@downlink/protocol";
import { contextOf } from "../../background/jobs/transaction-context.ts";
import type { Ctx } from "../../calls/context/context.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import type { Complete } from "../../core/complete.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { cancelRequests } from "../../import-life/change-request.ts";
import { raisePriority } from "../../import-life/import-request-rows.ts";
import { nextImportStatus } from "../../import-life/import-status.ts";
import { queueImports } from "../../import-life/queue-imports.ts";
import { findRequester } from "../../organization/api-keys/find-requester.ts";
import { lockSelection, type SelectedRecording, type Selection } from "./lock-selection.ts";

type Contract = typeof api.importRequests;

/** The result for one recording of many. */
type Verdict = "change" | "already" | BulkRefusal;

/** Requests for many recordings at once: each is judged by itself, and all that may change do so in one transaction. */
export const importRequests: Handlers<Contract> = {
  create: requestImports,
  update: changePriorities,
  cancel: cancelImports,
};

async function requestImports(
  ctx: Ctx,
  input: Input<Contract["create"]>,
): Promise<Complete<Output<Contract["create"]>>> {
  const { priority } = input;
  const { changed: queued, ...others } = await changeSelected(ctx, input, async (tx, rows) => {
    const requestedBy = await findRequester(tx, ctx);
    const groups = Map.groupBy(rows, judgeRequest);
    const pending = rows.filter(({ importStatus }) => importStatus === "pending");
    await raisePriority(tx, idsOf(pending), { priority, requestedBy });
    const wanted = (groups.get("change") ?? []).map(toQueueable);
    await queueImports(contextOf(tx, ctx), wanted, { priority, requestedBy });
    return groups;
  });
  return { queued, ...others };
}

function judgeRequest({ importStatus, versionId }: SelectedRecording): Verdict {
  if (nextImportStatus(importStatus, "request", versionId !== null) === importStatus) return "already";
  return versionId === null ? "EdgeCopyGone" : "change";
}

function toQueueable({ versionId, agentId, deviceName, ...recording }: SelectedRecording) {
  const edgeFile = { versionId: versionId!, agentId: agentId! };
  return { recording, edgeFile, deviceName: deviceName ?? undefined };
}

async function changePriorities(
  ctx: Ctx,
  input: Input<Contract["update"]>,
): Promise<Complete<Output<Contract["update"]>>> {
  const { priority } = input;
  return changeSelected(ctx, input, async (tx, rows) => {
    const waiting = await tx.$queryRaw<{ recordingId: string; priority: number }[]>`
      SELECT "recordingId", priority FROM "ImportRequest"
      WHERE "recordingId" = ANY(${idsOf(rows)}) AND state = 'awaiting' AND source = 'edge'`;
    const priorities = new Map(waiting.map((request) => [request.recordingId, request.priority]));
    const groups = Map.groupBy(rows, ({ id }): Verdict => {
      if (!priorities.has(id)) return "NotWaiting";
      return priorities.get(id) === priority ? "already" : "change";
    });
    await tx.$executeRaw`
      UPDATE "ImportRequest" SET priority = ${priority}
      WHERE "recordingId" = ANY(${idsOf(groups.get("change") ?? [])}) AND state = 'awaiting' AND source = 'edge'`;
    return groups;
  });
}

async function cancelImports(
  ctx: Ctx,
  input: Input<Contract["cancel"]>,
): Promise<Complete<Output<Contract["cancel"]>>> {
  const { changed: cancelled, ...others } = await changeSelected(ctx, input, async (tx, rows) => {
    const groups = Map.groupBy(rows, judgeCancellation);
    const recordingIds = idsOf(groups.get("change") ?? []);
    await cancelRequests(contextOf(tx, ctx), recordingIds);
    await tx.recording.updateMany({ where: { id: { in: recordingIds } }, data: { importStatus: "none" } });
    return groups;
  });
  return { cancelled, ...others };
}

function judgeCancellation({ importStatus }: SelectedRecording): Verdict {
  if (importStatus === "none") return "already";
  return nextImportStatus(importStatus, "cancel", true) === "none" ? "change" : "NotWaiting";
}

type Groups = ReadonlyMap<Verdict, readonly SelectedRecording[]>;

interface Changed {
  readonly changed: number;
  readonly already: number;
  readonly refused: { readonly reason: BulkRefusal; readonly count: number }[];
}

/** Changes those of the selected recordings that may be changed. */
async function changeSelected(
  ctx: Ctx,
  selection: Selection,
  change: (tx: Transaction, rows: readonly SelectedRecording[]) => Promise<Groups>,
): Promise<Changed> {
  const { groups, missing } = await withTransaction(ctx.db, async (tx) => {
    const selected = await lockSelection(tx, ctx, selection);
    return { groups: await change(tx, selected.rows), missing: selected.missing };
  });
  const countOf = (verdict: Verdict) => groups.get(verdict)?.length ?? 0;
  return { changed: countOf("change"), already: countOf("already"), refused: refusalsOf(groups, missing) };
}

function refusalsOf(groups: Groups, missing: number): Changed["refused"] {
  const counts = BulkRefusal.options.map((reason) => {
    return { reason, count: (groups.get(reason)?.length ?? 0) + (reason === "NotFound" ? missing : 0) };
  });
  return counts.filter(({ count }) => count > 0);
}

function idsOf(rows: readonly SelectedRecording[]): string[] {
  return rows.map(({ id }) => id);
}
