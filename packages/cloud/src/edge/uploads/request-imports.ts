// A user at a device requests imports through its agent. Such a request is like those of the API, but only for the agent's own versions,
// and `requestedBy` says where it came from. The flag `wantsImport` of a report is for globs: it never repeats a request that
// failed, or whose data was deleted.

import type { api, ImportStatus, Input, Output, Requester } from "@downlink/protocol";
import type { TransactionContext } from "../../background/jobs/transaction-context.ts";
import type { AgentCtx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import { throwNotFound } from "../../core/errors.ts";
import { askForPart } from "../../data/recordings/request-part.ts";
import type { AgentModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import { type FileVersion, findVersions } from "../../fleet/agents/find-versions.ts";
import { withLease } from "../../fleet/agents/lease.ts";
import { edgeCopyOf } from "../../import-life/edge-copy.ts";
import { queueImport } from "../../import-life/queue-imports.ts";
import { agentRequester } from "../standing/agent-requester.ts";
import { readServedProjects } from "../standing/served-projects.ts";

type RequestImports = typeof api.edge.requestImports;

/**
 * Requests these imports for a user at the device. An agent knows only the recordings of its own files, and requests nothing in a project
 * that its site does not serve.
 */
export async function requestImports(
  ctx: AgentCtx,
  { versionIds, priority, part }: Input<RequestImports>,
): Promise<Complete<Output<RequestImports>>> {
  return withLease(ctx, async (tx, agent) => {
    const nowNs = ctx.clock.nowNs();
    const wanted = [...new Set(versionIds)];
    const found = await findServed(tx, agent, wanted);
    const ids = found.flatMap(({ recordingId }) => recordingId ?? []).sort(); // every transaction locks in this order
    const request = { priority, requestedBy: await agentRequester(tx, agent) };
    const context = { tx, jobs: ctx.jobs, nowNs };
    for (const recordingId of ids) await queueImport(context, { ...request, recordingId });
    const statuses = await readStatuses(tx, ids, nowNs);
    const idOf = new Map(found.map(({ versionId, recordingId }) => [versionId, recordingId]));
    return {
      answers: wanted.map((versionId) => ({ versionId, importStatus: statuses.get(idOf.get(versionId) ?? "") })),
      part: part && (await requestPart(context, { agent, ...request }, part)),
    };
  });
}

interface Asking {
  readonly agent: AgentModel;
  readonly priority: number;
  readonly requestedBy: Requester;
}

type Part = NonNullable<Input<RequestImports>["part"]>;

async function requestPart(
  context: TransactionContext,
  { agent, priority, requestedBy }: Asking,
  part: Part,
): Promise<Complete<Output<RequestImports>["part"]>> {
  const { tx } = context;
  const [file] = await findServed(tx, agent, [part.versionId]);
  const id = file?.recordingId ?? throwNotFound(`a recording of the file ${part.versionId}`);
  const asked = await askForPart(context, { id, requestedBy }, { ...part, priority });
  if (asked !== "whole") return { importStatus: asked.importStatus, cuts: asked.cuts };
  await queueImport(context, { recordingId: id, priority, requestedBy });
  const { importStatus } = await tx.recording.findUniqueOrThrow({ where: { id } });
  return { importStatus, cuts: undefined };
}

async function findServed(tx: Transaction, agent: AgentModel, versionIds: readonly string[]): Promise<FileVersion[]> {
  const found = await findVersions(tx, { agentId: agent.id, versionIds });
  const served = await readServedProjects(tx, agent);
  if (served === undefined) return found;
  const ids = found.flatMap(({ recordingId }) => recordingId ?? []);
  const where = { id: { in: ids }, projectId: { in: [...served] } };
  const own = new Set((await tx.recording.findMany({ where, select: { id: true } })).map(({ id }) => id));
  return found.filter(({ recordingId }) => recordingId !== null && own.has(recordingId));
}

/** A file that may be deleted at this moment cannot be requested. */
async function readStatuses(
  tx: Transaction,
  ids: readonly string[],
  nowNs: bigint,
): Promise<Map<string, ImportStatus>> {
  const rows = await tx.recording.findMany({ where: { id: { in: [...ids] } }, include: { edgeFile: true } });
  const there = rows.filter((row) => row.importStatus === "complete" || edgeCopyOf(row, nowNs));
  return new Map(there.map(({ id, importStatus }) => [id, importStatus]));
}
