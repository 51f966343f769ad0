import { createHash } from "node:crypto";
import { AgentSettings, type EdgeSettings, EdgeWork } from "@downlink/protocol";
import { sql } from "kysely";
import { z } from "zod";
import type { AgentCtx } from "../../calls/context/context.ts";
import { type Complete, toComplete } from "../../core/complete.ts";
import { readIncarnation } from "../../db/incarnation.ts";
import { type Parameters, prepare } from "../../db/prepared.ts";
import { withLease } from "../../fleet/agents/lease.ts";
import { ownerId, readOwner } from "../../process/polls/agent-owner.ts";
import { type KnownWork, keepShortBody } from "../../process/polls/known-work.ts";
import { FRESH_NS, LEASE_NS } from "../../process/polls/lease-renewals.ts";
import type { DeviceSettings, SettingsOwner, SiteSettings } from "../standing/agent-standing.ts";
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

interface Rest {
  /** The device or the site that the agent is of. */
  readonly ownerId: string;
  readonly lease: bigint;
  readonly nowNs: bigint;
  readonly untilNs: bigint;
  /** A lease that ends later is not renewed. */
  readonly freshNs: bigint;
}

type RestingRow = DeviceSettings & SiteSettings & { readonly incarnation: string };

/**
 * Reads everything as of one moment, and renews the lease if that was not done lately. A change after that moment is signalled, as with
 * every answer.
 */
const restingOf = (owner: "Device" | "Site", key: "deviceId" | "siteId", settings: string) =>
  prepare(
    (_db, at: Parameters<Rest>) => sql<RestingRow>`
      WITH held AS (
        SELECT id, "leaseExpiresAtNs" FROM "Agent"
          WHERE ${sql.ref(key)} = ${at.ownerId} AND "leaseNumber" = ${at.lease} AND "clonedAtNs" IS NULL
      ), renewed AS (
        UPDATE "Agent" a SET "leaseExpiresAtNs" = ${at.untilNs}, "lastSeenAtNs" = ${at.nowNs}, "isOnline" = true
          FROM held h WHERE a.id = h.id AND a."leaseNumber" = ${at.lease}
            AND h."leaseExpiresAtNs" NOT BETWEEN ${at.freshNs} AND ${at.untilNs}
      )
      SELECT ${sql.raw(settings)}, c.incarnation
      FROM held h JOIN ${sql.table(owner)} o ON o.id = ${at.ownerId} JOIN "Deployment" c ON c.id = 1
      WHERE NOT EXISTS (SELECT FROM "ImportRequest" r WHERE r."agentId" = h.id AND NOT r."isAcknowledged")
        AND NOT EXISTS (SELECT FROM "SalvageRequest" s WHERE s."agentId" = h.id AND s.state = 'requested')
        AND NOT EXISTS (SELECT FROM "Cut" t WHERE t."agentId" = h.id AND t.state = 'requested')`,
  );
const findRestingDevice = restingOf(
  "Device",
  "deviceId",
  'o.enabled, o."retainRecordingsSeconds", o."autoDeleteAfterImport", o."agentSettings"',
);
const findRestingSite = restingOf("Site", "siteId", 'o."retainRecordingsSeconds", o."agentSettings"');

/** Returns undefined if something is wanted of the agent, or if it does not hold the lease: by far most agents are at rest. */
async function readResting({ db, caller, clock }: AgentCtx): Promise<Resting | undefined> {
  if (caller.lease === undefined) return undefined;
  const isDevice = caller.deviceId !== null;
  const nowNs = clock.nowNs();
  const times = { nowNs, untilNs: nowNs + LEASE_NS, freshNs: nowNs + FRESH_NS };
  const find = isDevice ? findRestingDevice : findRestingSite;
  const [row] = await find(db, { ownerId: ownerId(caller), lease: caller.lease, ...times });
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
