import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { AgentSettings, type api, type EdgeSettings, EdgeWork, type Input, type Output } from "@downlink/protocol";
import { z } from "zod";
import type { AgentCtx } from "../context.ts";
import { type AgentOwner, ownerId, readOwner } from "./agent-owner.ts";
import { withLease } from "./lease.ts";
import { requireStanding } from "./standing.ts";
import { readWanted } from "./wanted.ts";
import { ignoreAbort } from "./work-signals.ts";

type Work = typeof api.edge.work;

/** How often a poll that waits looks whether it still may: signals tell it at once, but one may be lost. */
const LOOK_AGAIN_MS = 5000;

/**
 * The desired set; waits while it is what the agent has already. A poll
 * ends when its token is revoked, and when the cloud is another incarnation than at its beginning.
 */
export async function getWork(ctx: AgentCtx, { wait, etag, maxRequests }: Input<Work>): Promise<Output<Work>> {
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
      const answer = await readWork(ctx, maxRequests);
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

async function readWork(ctx: AgentCtx, maxRequests: number | undefined): Promise<Output<Work>> {
  const work = await withLease(ctx, async (tx, agent) => ({
    ...(await readWanted(tx, agent, maxRequests)),
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
