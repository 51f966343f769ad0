import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import {
  AgentSettings,
  type api,
  type EdgeSettings,
  EdgeWork,
  type Input,
  type Output,
  type WantedImport,
} from "@downlink/protocol";
import { z } from "zod";
import type { AgentCtx } from "../context.ts";
import type { AgentModel, ImportRequestModel } from "../db/generated/models.ts";
import type { Transaction } from "../db/transaction.ts";
import { terminalStates } from "../ingest/import-request-state.ts";
import { type AgentOwner, ownerId, readOwner } from "./agent-owner.ts";
import { withLease } from "./lease.ts";
import { wantedSalvages } from "./salvages.ts";
import { requireStanding } from "./standing.ts";
import { ignoreAbort } from "./work-signals.ts";

type Work = typeof api.edge.work;

/** How often a poll that waits looks whether it still may: signals tell it at once, but one may be lost. */
const LOOK_AGAIN_MS = 5000;

/**
 * The whole desired set; waits while it is what the agent has already. A cancelled request is one that is no longer there. A poll
 * ends when its token is revoked, and when the cloud is another incarnation than at its beginning.
 */
export async function getWork(ctx: AgentCtx, { wait, etag }: Input<Work>): Promise<Output<Work>> {
  const deadlineMs = performance.now() + wait * 1000;
  let begunUnder: string | undefined;
  for (;;) {
    const listening = new AbortController(); // it listens before it reads, so that no change falls between
    const signal = AbortSignal.any([ctx.signal, listening.signal]);
    const timeoutMs = Math.max(1, Math.ceil(deadlineMs - performance.now()));
    const news = ctx.workSignals.wait(ownerId(ctx.caller), { timeoutMs, signal });
    try {
      const { incarnation } = await requireStanding(ctx, ctx.caller);
      begunUnder ??= incarnation;
      const answer = await readWork(ctx);
      const isOver = performance.now() >= deadlineMs || ctx.signal.aborted || incarnation !== begunUnder;
      if (answer.etag !== etag || isOver) return answer;
      await untilNews(ctx, { news, incarnation, signal });
    } finally {
      listening.abort();
    }
  }
}

interface Waiting {
  readonly news: Promise<void>;
  readonly incarnation: string;
  readonly signal: AbortSignal;
}

/** Or until the agent must not wait any longer: it fails where the token is no good, and ends where the incarnation is another. */
async function untilNews(ctx: AgentCtx, { news, incarnation, signal }: Waiting): Promise<void> {
  const isNews = news.then(() => true);
  while (!(await Promise.race([isNews, rest(signal)]))) {
    if ((await requireStanding(ctx, ctx.caller)).incarnation !== incarnation) return;
  }
}

/** Ends with the signal, too: then there are no news to wait for. */
async function rest(signal: AbortSignal): Promise<false> {
  await delay(LOOK_AGAIN_MS, undefined, { signal }).catch(ignoreAbort);
  return false;
}

async function readWork(ctx: AgentCtx): Promise<Output<Work>> {
  const work = await withLease(ctx, async (tx, agent) => ({
    imports: await wantedImports(tx, agent),
    salvages: await wantedSalvages(tx, agent.id),
    settings: settingsOf(await readOwner(tx, agent)),
  }));
  const etag = createHash("sha256")
    .update(JSON.stringify(z.encode(EdgeWork, work)))
    .digest("base64url")
    .slice(0, 22);
  return { etag, work };
}

/** What devices at a site have set of their own is not for the site's agent. */
export function settingsOf(owner: AgentOwner): EdgeSettings {
  if ("site" in owner) {
    const retainRecordingsSeconds = Math.ceil(owner.site.retainRecordingsSeconds ?? 0);
    const settings = AgentSettings.parse(owner.site.agentSettings);
    return { enabled: true, retainRecordingsSeconds, autoDeleteAfterImport: false, ...settings };
  }
  const { device } = owner;
  return {
    enabled: device.enabled,
    retainRecordingsSeconds: device.retainRecordingsSeconds ?? 0,
    autoDeleteAfterImport: device.autoDeleteAfterImport,
    ...AgentSettings.parse(device.agentSettings),
  };
}

async function wantedImports(tx: Transaction, agent: AgentModel): Promise<WantedImport[]> {
  const rows = await tx.importRequest.findMany({
    where: { agentId: agent.id, isAcknowledged: false },
    orderBy: [{ priority: "desc" }, { createdAtNs: "asc" }, { id: "asc" }],
  });
  const disabled = agent.siteId === null ? new Set() : await disabledDevices(tx, rows);
  return rows.filter(({ deviceId }) => !disabled.has(deviceId)).flatMap(toWantedImport);
}

/** Of a site's devices: their requests wait. A device's own agent is told so by its settings. */
async function disabledDevices(tx: Transaction, rows: readonly ImportRequestModel[]): Promise<Set<string | null>> {
  const ids = [...new Set(rows.flatMap(({ deviceId }) => deviceId ?? []))];
  const disabled = await tx.device.findMany({ where: { id: { in: ids }, enabled: false }, select: { id: true } });
  return new Set(disabled.map(({ id }) => id));
}

const stages: Record<string, WantedImport["stage"]> = {
  awaiting: "deliver",
  complete: "imported",
  error: "failed",
  cancelled: "failed", // a failure that was taken back
};

const OVER = ".over";

/**
 * The id under which the agent acknowledges a request: that its end counts no more has one of its own, because an acknowledgement of the end
 * may still be on its way.
 */
function acknowledgedAs({ id, isOver }: Pick<ImportRequestModel, "id" | "isOver">): string {
  return isOver ? id + OVER : id;
}

/** The agent knows how these requests ended: they leave its work. */
export async function acknowledge(tx: Transaction, agent: AgentModel, said: readonly string[]): Promise<void> {
  if (said.length === 0) return;
  const [over, ended] = [said.filter((id) => id.endsWith(OVER)), said.filter((id) => !id.endsWith(OVER))];
  const ids = { false: ended, true: over.map((id) => id.slice(0, -OVER.length)) };
  for (const isOver of [false, true])
    await tx.importRequest.updateMany({
      where: { id: { in: ids[`${isOver}`] }, isOver, agentId: agent.id, state: { in: [...terminalStates] } },
      data: { isAcknowledged: true },
    });
}

function toWantedImport(row: ImportRequestModel): WantedImport[] {
  if (row.versionId === null || row.recordingId === null) return []; // the recording was deleted meanwhile
  const reason = row.errorCode === null ? undefined : { code: row.errorCode, text: row.errorText ?? "" };
  return [
    {
      requestId: acknowledgedAs(row),
      recordingId: row.recordingId,
      versionId: row.versionId,
      stage: stages[row.state] ?? "processing",
      priority: row.priority,
      requestedAt: row.createdAtNs,
      reason,
      isOver: row.isOver || undefined,
    },
  ];
}
