// A salvage names its file by version, or else by path, size and time, because the agent may have lost its state in between. From then on
// it is handled like every other file; there is no second kind of upload.

import { type EdgeItem, type EdgeRecordingItem, SALVAGE_RECORD_NAME } from "@downlink/protocol";
import { contextOf, type TransactionContext } from "../../background/jobs/transaction-context.ts";
import type { AgentCtx } from "../../calls/context/context.ts";
import type { AgentModel, RecordingModel, SalvageRequestModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import type { SalvageState } from "../../fleet/agents/salvages.ts";
import { cancelRequests } from "../../import-life/change-request.ts";
import { findLocked } from "../../import-life/lock-recording.ts";
import { queueImport } from "../../import-life/queue-imports.ts";

interface Reported {
  readonly ctx: AgentCtx;
  readonly agent: AgentModel;
  readonly items: readonly EdgeItem[];
}

type OpenRequest = SalvageRequestModel & { readonly recording: Pick<RecordingModel, "importStatus"> | null };

/** Requested salvages have arrived, or the files themselves were finished: either is what was requested, and is imported. */
export async function noteSalvages(tx: Transaction, { ctx, agent, items }: Reported): Promise<void> {
  const indexed = items.filter((item) => item.state === "indexed");
  const open = indexed.length === 0 ? [] : await findOpen(tx, agent.id);
  if (open.length === 0) return;
  for (const item of indexed) {
    const record = item.metadata.findLast(({ name }) => name === SALVAGE_RECORD_NAME)?.metadata;
    const request = open.find(record ? (row) => isOf(record, row) : (row) => isFinished(item, row));
    if (request) await note(tx, { ctx, request, item, state: record ? "made" : "superseded" });
  }
}

/** If a salvage was made, its request is open until its file was delivered. */
async function findOpen(tx: Transaction, agentId: string): Promise<OpenRequest[]> {
  return tx.salvageRequest.findMany({
    where: {
      agentId,
      OR: [{ state: { in: ["requested", "gone"] } }, { state: "made", recording: { importStatus: "pending" } }],
    },
    include: { recording: { select: { importStatus: true } } },
  });
}

/** Compares by version, or by what identifies the file after its agent lost its state. */
function isOf(record: Readonly<Record<string, string>>, row: OpenRequest): boolean {
  if (row.state === "made") return false;
  const isSameFile = record.path === row.path && record.modifiedAtNs === `${row.modifiedAtNs}`;
  return record.versionId === row.versionId || (isSameFile && record.sizeBytes === `${row.sizeBytes}`);
}

/** The same path alone is not enough: recorders write files under one name over and over. */
function isFinished(item: EdgeRecordingItem, row: OpenRequest): boolean {
  return item.path === row.path && item.start === row.startNs;
}

interface Noted {
  readonly ctx: AgentCtx;
  readonly request: OpenRequest;
  readonly item: EdgeRecordingItem;
  readonly state: Extract<SalvageState, "made" | "superseded">;
}

async function note(tx: Transaction, { ctx, request, item, state }: Noted): Promise<void> {
  const { id, agentId, recordingId: salvageId, priority } = request;
  const context = contextOf(tx, ctx);
  const version = { agentId, versionId: item.versionId };
  const file = await tx.edgeFile.findUnique({ where: { agentId_versionId: version } });
  if (!file?.recordingId) return;
  if (salvageId !== null) await withdraw(context, salvageId);
  const recordingId = state === "made" ? file.recordingId : salvageId;
  await tx.salvageRequest.update({ where: { id }, data: { state, recordingId, updatedAtNs: context.nowNs } });
  await queueImport(context, { recordingId: file.recordingId, priority });
}

/** A finished file takes the place of its salvage. */
async function withdraw(context: TransactionContext, recordingId: string): Promise<void> {
  const { tx } = context;
  const salvage = await findLocked(tx, recordingId);
  if (salvage?.importStatus !== "pending") return;
  await cancelRequests(context, [recordingId]);
  await tx.recording.update({ where: { id: recordingId }, data: { importStatus: "none" } });
}
