import { createHash } from "node:crypto";
import { AgentSettings, type EdgeSettings, EdgeWork } from "@downlink/protocol";
import { z } from "zod";
import type { AgentCtx } from "../context.ts";
import { readIncarnation } from "../db/incarnation.ts";
import { type AgentOwner, readOwner } from "./agent-owner.ts";
import { type KnownWork, keptBody } from "./known-work.ts";
import { withLease } from "./lease.ts";
import { readWanted } from "./wanted.ts";

interface ReadWork {
  readonly known: KnownWork;
  /** The whole answer, encoded. */
  readonly body: string;
}

/** The desired set as it is now, under the agent's lease. */
export async function readWork(ctx: AgentCtx, maxRequests: number | undefined): Promise<ReadWork> {
  const work = await withLease(ctx, async (tx, agent) => ({
    ...(await readWanted(tx, agent, maxRequests)),
    settings: settingsOf(await readOwner(tx, agent)),
  }));
  // After the work: an answer of the old incarnation that names the new one costs a hello, the other way round it would be trusted.
  const incarnation = await readIncarnation(ctx.db);
  const encoded = JSON.stringify(z.encode(EdgeWork, work));
  const etag = createHash("sha256").update(encoded).digest("base64url").slice(0, 22);
  const body = `{"etag":"${etag}","work":${encoded}}`;
  return { known: { etag, maxRequests, body: keptBody(body), incarnation }, body };
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
