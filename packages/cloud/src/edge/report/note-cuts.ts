// The file of a cut names its request. From then on it is handled like every other file; there is no second kind of upload.

import { CUT_RECORD_NAME, type EdgeItem, Requester } from "@downlink/protocol";
import { contextOf } from "../../background/jobs/transaction-context.ts";
import type { AgentCtx } from "../../calls/context/context.ts";
import type { AgentModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import { queueImport } from "../../import-life/queue-imports.ts";

interface Reported {
  readonly ctx: AgentCtx;
  readonly agent: AgentModel;
  readonly items: readonly EdgeItem[];
}

/** Requested cuts have arrived: each is imported. */
export async function noteCuts(tx: Transaction, { ctx, agent, items }: Reported): Promise<void> {
  for (const item of items) {
    const requestId = item.state === "indexed" ? requestOf(item.metadata) : undefined;
    if (requestId === undefined) continue;
    const cut = await tx.cut.findFirst({ where: { id: requestId, agentId: agent.id, state: "requested" } });
    const version = { agentId: agent.id, versionId: item.versionId };
    const file = cut && (await tx.edgeFile.findUnique({ where: { agentId_versionId: version } }));
    if (!cut || !file?.recordingId || file.recordingId === cut.wholeId) continue;
    const { recordingId } = file;
    const context = contextOf(tx, ctx);
    const { count } = await tx.cut.updateMany({
      where: { id: cut.id, state: "requested" },
      data: { state: "made", recordingId, updatedAtNs: context.nowNs },
    });
    if (count === 0) continue; // it was cancelled at this moment
    await tx.recording.update({ where: { id: recordingId }, data: { isCut: true } });
    const { priority } = cut;
    await queueImport(context, { recordingId, priority, requestedBy: Requester.parse(cut.requestedBy) });
  }
}

function requestOf(
  metadata: readonly { readonly name: string; readonly metadata: Readonly<Record<string, string>> }[],
): string | undefined {
  return metadata.findLast(({ name }) => name === CUT_RECORD_NAME)?.metadata.requestId;
}
