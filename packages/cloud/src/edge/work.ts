import { createHash } from "node:crypto";
import { type api, type EdgeSettings, EdgeWork, type Input, type Output, type WantedImport } from "@downlink/protocol";
import { z } from "zod";
import type { AgentCtx } from "../context.ts";
import type { DeviceModel, ImportRequestModel } from "../db/generated/models.ts";
import type { Transaction } from "../db/transaction.ts";
import { withLease } from "./lease.ts";

type Work = typeof api.edge.work;

/** The whole desired set; waits while it is what the agent has already. A cancelled request is one that is no longer there. */
export async function getWork(ctx: AgentCtx, { wait, etag }: Input<Work>): Promise<Output<Work>> {
  const deadlineMs = performance.now() + wait * 1000;
  for (;;) {
    const listening = new AbortController(); // it listens before it reads, so that no change falls between
    const signal = AbortSignal.any([ctx.signal, listening.signal]);
    const timeoutMs = Math.max(1, Math.ceil(deadlineMs - performance.now()));
    const announced = ctx.workSignals.wait(ctx.caller.deviceId, { timeoutMs, signal });
    try {
      const answer = await readWork(ctx);
      if (answer.etag !== etag || performance.now() >= deadlineMs || ctx.signal.aborted) return answer;
      await announced;
    } finally {
      listening.abort();
    }
  }
}

async function readWork(ctx: AgentCtx): Promise<Output<Work>> {
  const work = await withLease(ctx, async (tx, agent) => ({
    imports: await wantedImports(tx, agent.id),
    settings: settingsOf(await tx.device.findUniqueOrThrow({ where: { id: agent.deviceId } })),
  }));
  const etag = createHash("sha256")
    .update(JSON.stringify(z.encode(EdgeWork, work)))
    .digest("base64url")
    .slice(0, 22);
  return { etag, work };
}

export function settingsOf(device: DeviceModel): EdgeSettings {
  return {
    enabled: device.enabled,
    retainRecordingsSeconds: device.retainRecordingsSeconds ?? 0,
    autoDeleteAfterImport: device.autoDeleteAfterImport,
  };
}

async function wantedImports(tx: Transaction, agentId: string): Promise<WantedImport[]> {
  const rows = await tx.importRequest.findMany({
    where: { agentId, isAcknowledged: false, state: { not: "cancelled" } },
    orderBy: [{ priority: "desc" }, { createdAtNs: "asc" }, { id: "asc" }],
  });
  return rows.flatMap(toWantedImport);
}

const stages: Record<string, WantedImport["stage"]> = { awaiting: "deliver", complete: "imported", error: "failed" };

function toWantedImport(row: ImportRequestModel): WantedImport[] {
  if (row.versionId === null || row.recordingId === null) return []; // the recording was deleted meanwhile
  const reason = row.errorCode === null ? undefined : { code: row.errorCode, text: row.errorText ?? "" };
  return [
    {
      requestId: row.id,
      recordingId: row.recordingId,
      versionId: row.versionId,
      stage: stages[row.state] ?? "processing",
      priority: row.priority,
      requestedAt: row.createdAtNs,
      reason,
    },
  ];
}
