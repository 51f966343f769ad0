import { createHash } from "node:crypto";
import { AgentSettings, type EdgeSettings, EdgeWork } from "@downlink/protocol";
import { z } from "zod";
import type { AgentCtx } from "../calls/context/context.ts";
import { type Complete, toComplete } from "../core/complete.ts";
import { readIncarnation } from "../db/incarnation.ts";
import { withLease } from "../fleet/agents/lease.ts";
import { ownerId, readOwner } from "../process/polls/agent-owner.ts";
import { type KnownWork, keepShortBody } from "../process/polls/known-work.ts";
import { FRESH_NS, LEASE_NS } from "../process/polls/lease-renewals.ts";
import type { DeviceSettings, SettingsOwner, SiteSettings } from "./agent-standing.ts";
import { nothingWanted, readWanted } from "./wanted.ts";

interface ReadWork {
  readonly known: KnownWork;
  /** The whole answer, encoded. */
  readonly body: string;
}

/** Reads the desired state as it is now, under the agent's lease. */
export async function readWork(ctx: AgentCtx, maxRequests: number | undefined): Promise<ReadWork> {
  const resting = await readResting(ctx);
  if (resting) return toRead({ ...nothingWanted, settings: settingsOf(resting) }, { ...resting, maxRequests });
  const work = await withLease(ctx, async (tx, agent) => ({
    ...(await readWanted(tx, agent, maxRequests)),
    settings: settingsOf(await readOwner(tx, agent)),
  }));
  // The incarnation is read after the work: an old answer that names the new incarnation costs a hello, but a new answer that names the old
  // one would be trusted.
  return toRead(work, { incarnation: await readIncarnation(ctx.db), maxRequests });
}

function toRead(work: Complete<EdgeWork>, known: Pick<KnownWork, "maxRequests" | "incarnation">): ReadWork {
  const encoded = JSON.stringify(z.encode(EdgeWork, work));
  const etag = createHash("sha256").update(encoded).digest("base64url").slice(0, 22);
  const body = `{"etag":"${etag}","work":${encoded}}`;
  return {
    known: { etag, maxRequests: known.maxRequests, body: keepShortBody(body), incarnation: known.incarnation },
    body,
  };
}

type Resting = SettingsOwner & { readonly incarnation: string };

/**
 * Reads everything as of one moment, and renews the lease if that was not done lately. A change after that moment is signalled, as with
 * every answer.
 */
const restingSql = (owner: "Device" | "Site", key: "deviceId" | "siteId", settings: string) => `
  WITH held AS (
    SELECT id, "leaseExpiresAtNs" FROM "Agent" WHERE "${key}" = $1 AND "leaseNumber" = $2 AND "clonedAtNs" IS NULL
  ), renewed AS (
    UPDATE "Agent" a SET "leaseExpiresAtNs" = $4, "lastSeenAtNs" = $3, "isOnline" = true
      FROM held h WHERE a.id = h.id AND a."leaseNumber" = $2 AND h."leaseExpiresAtNs" NOT BETWEEN $5 AND $4
  )
  SELECT ${settings}, c.incarnation FROM held h JOIN "${owner}" o ON o.id = $1 JOIN "Deployment" c ON c.id = 1
  WHERE NOT EXISTS (SELECT FROM "ImportRequest" r WHERE r."agentId" = h.id AND NOT r."isAcknowledged")
    AND NOT EXISTS (SELECT FROM "SalvageRequest" s WHERE s."agentId" = h.id AND s.state = 'requested')`;
const RESTING_OF_DEVICE = restingSql(
  "Device",
  "deviceId",
  'o.enabled, o."retainRecordingsSeconds", o."autoDeleteAfterImport", o."agentSettings"',
);
const RESTING_OF_SITE = restingSql("Site", "siteId", 'o."retainRecordingsSeconds", o."agentSettings"');

/** Returns undefined if something is wanted of the agent, or if it does not hold the lease: by far most agents are at rest. */
async function readResting({ db, caller, clock }: AgentCtx): Promise<Resting | undefined> {
  if (caller.lease === undefined) return undefined;
  const isDevice = caller.deviceId !== null;
  const nowNs = clock.nowNs();
  const { rows } = await db.pool.query<DeviceSettings & SiteSettings & { incarnation: string }>({
    name: isDevice ? "a device's agent at rest" : "a site's agent at rest",
    text: isDevice ? RESTING_OF_DEVICE : RESTING_OF_SITE,
    values: [ownerId(caller), ...[caller.lease, nowNs, nowNs + LEASE_NS, nowNs + FRESH_NS].map(String)],
  });
  const [row] = rows;
  if (!row) return undefined;
  return { incarnation: row.incarnation, ...(isDevice ? { device: row } : { site: row }) };
}

/** Settings of devices at a site are not for the site's agent. */
export function settingsOf(owner: SettingsOwner): Complete<EdgeSettings> {
  if ("site" in owner) {
    const retainRecordingsSeconds = Math.ceil(owner.site.retainRecordingsSeconds ?? 0);
    const settings = AgentSettings.parse(owner.site.agentSettings);
    return { enabled: true, retainRecordingsSeconds, autoDeleteAfterImport: false, ...toComplete(settings) };
  }
  const { device } = owner;
  return {
    enabled: device.enabled,
    retainRecordingsSeconds: device.retainRecordingsSeconds ?? 0,
    autoDeleteAfterImport: device.autoDeleteAfterImport,
    ...toComplete(AgentSettings.parse(device.agentSettings)),
  };
}
