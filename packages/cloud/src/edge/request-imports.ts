import type { api, ImportStatus, Input, Output, Requester } from "@downlink/protocol";
import type { AgentCtx } from "../context.ts";
import type { AgentModel } from "../db/generated/models.ts";
import type { Transaction } from "../db/transaction.ts";
import { edgeCopyOf } from "../recordings/edge-copy.ts";
import { ownerId } from "./agent-owner.ts";
import { findVersions } from "./find-versions.ts";
import { withLease } from "./lease.ts";
import { queueImport } from "./queue-import.ts";

type RequestImports = typeof api.edge.requestImports;

/** Somebody at the device wants them. An agent knows no recordings but those of its own files. */
export async function requestImports(
  ctx: AgentCtx,
  { versionIds, priority }: Input<RequestImports>,
): Promise<Output<RequestImports>> {
  const { answers, requested } = await withLease(ctx, async (tx, agent) => {
    const nowNs = ctx.clock.nowNs();
    const wanted = [...new Set(versionIds)];
    const found = await findVersions(tx, { agentId: agent.id, versionIds: wanted });
    const ids = found.flatMap(({ recordingId }) => recordingId ?? []).sort(); // everybody locks in one order
    const wish = { priority, requestedBy: requesterOf(agent), jobs: ctx.jobs, nowNs };
    let count = 0;
    for (const recordingId of ids) count += await queueImport(tx, { ...wish, recordingId });
    const statuses = await readStatuses(tx, ids, nowNs);
    const idOf = new Map(found.map(({ versionId, recordingId }) => [versionId, recordingId]));
    const told = wanted.map((versionId) => ({ versionId, importStatus: statuses.get(idOf.get(versionId) ?? "") }));
    return { answers: told, requested: count };
  });
  if (requested > 0) await ctx.workSignals.announce(ownerId(ctx.caller));
  return { answers };
}

function requesterOf({ id, deviceId, siteId }: AgentModel): Requester {
  return deviceId === null ? { kind: "site", id: siteId ?? id } : { kind: "device", id: deviceId };
}

/** Of a file that may be deleted at this moment nothing can be asked. */
async function readStatuses(
  tx: Transaction,
  ids: readonly string[],
  nowNs: bigint,
): Promise<Map<string, ImportStatus>> {
  const rows = await tx.recording.findMany({ where: { id: { in: [...ids] } }, include: { edgeFile: true } });
  const there = rows.filter((row) => row.importStatus === "complete" || edgeCopyOf(row, nowNs));
  return new Map(there.map(({ id, importStatus }) => [id, importStatus as ImportStatus]));
}
