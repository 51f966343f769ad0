// A statement of a self-hosted site about what it computed proves nothing by itself: the site is another party's machine. The statement
// counts for a deletion on a device only if an admin allowed that for this site (`downlink admin site prove-deletions`), no other process
// took the site over within the last day, and the site says at that moment that it has the object. The site says so in its report, because
// the control plane cannot call a site.

import { setTimeout as delay } from "node:timers/promises";
import type { AgentCtx } from "../../calls/context/context.ts";
import type { Transaction } from "../../db/transaction.ts";

/** So long a call waits for the sites. A site at rest looks once a second what it is asked. */
const WAIT_MS = 5000;
const LOOK_AGAIN_MS = 200;

interface Holder {
  readonly key: string;
  readonly sizeBytes: bigint;
}

/** Asks the sites for the objects that hold these versions, and returns the keys of those that they have now with their size. */
export async function askSites(ctx: AgentCtx, versionIds: readonly string[]): Promise<ReadonlySet<string>> {
  const holders = versionIds.length === 0 ? [] : await findHolders(ctx, versionIds);
  if (holders.length === 0) return new Set();
  const keys = holders.map(({ key }) => key);
  const { siteObject } = ctx.db.prisma;
  await siteObject.updateMany({
    where: { key: { in: keys } },
    data: { askedSinceNs: ctx.clock.nowNs(), confirmedAtNs: null },
  });
  const endsAtMs = performance.now() + WAIT_MS;
  const isAnswered = async () =>
    (await siteObject.count({ where: { key: { in: keys }, askedSinceNs: { not: null } } })) === 0;
  while (!(await isAnswered()) && performance.now() < endsAtMs && !ctx.isInterrupted()) await delay(LOOK_AGAIN_MS);
  const rows = await siteObject.findMany({ where: { key: { in: keys }, confirmedAtNs: { not: null } } });
  const sizes = new Map(rows.map(({ key, sizeBytes }) => [key, sizeBytes]));
  return new Set(holders.flatMap(({ key, sizeBytes }) => (sizes.get(key) === sizeBytes ? [key] : [])));
}

/** Only sites that may prove deletions are asked: whether they may is looked at again when the permit is given. */
function findHolders({ db, caller }: AgentCtx, versionIds: readonly string[]): Promise<Holder[]> {
  return db.prisma.$queryRaw<Holder[]>`
    SELECT DISTINCT r."siteObjectKey" AS key, r."sizeBytes" FROM "Agent" a
    CROSS JOIN unnest(${versionIds}::text[]) AS wanted(id)
    CROSS JOIN LATERAL (
      SELECT "recordingId" FROM "EdgeFile" WHERE "agentId" = a.id AND "versionId" = wanted.id LIMIT 1
    ) f JOIN "Recording" known ON known.id = f."recordingId"
    JOIN "Recording" r ON r.id IN (known.id, known."duplicateOfId")
    JOIN "Site" s ON s.id = r."siteId" AND s."provesInIncarnation" IS NOT NULL
    WHERE (a."deviceId" = ${caller.deviceId} OR a."siteId" = ${caller.siteId}) AND r."siteObjectKey" IS NOT NULL`;
}

/** Why nothing at a site proves that a device may delete its copy. */
export interface Distrust {
  readonly text: string;
  readonly notBefore?: bigint;
}

interface Moment {
  readonly incarnation: string;
  readonly nowNs: bigint;
}

/** Returns for each of these self-hosted sites why it proves nothing at this moment; a site that is not in the map does. */
export async function readDistrust(
  tx: Transaction,
  siteIds: readonly string[],
  { incarnation, nowNs }: Moment,
): Promise<ReadonlyMap<string, Distrust>> {
  if (siteIds.length === 0) return new Map();
  const ids = [...new Set(siteIds)];
  await tx.$queryRaw`SELECT id FROM "Site" WHERE id = ANY(${ids}) ORDER BY id FOR SHARE`;
  const sites = await tx.site.findMany({ where: { id: { in: ids }, type: "self-hosted" }, include: { process: true } });
  const distrusted = new Map<string, Distrust>();
  for (const { id, name, provesInIncarnation, process } of sites) {
    const heldUntilNs = process?.proofsHeldUntilNs ?? 0n;
    const site = `it lies at the self-hosted site "${name}"`;
    if (provesInIncarnation !== incarnation)
      distrusted.set(id, { text: `${site}, which may not prove deletions: an admin can allow that` });
    else if (heldUntilNs > nowNs)
      distrusted.set(id, {
        text: `${site}, which another process took over within the last day`,
        notBefore: heldUntilNs,
      });
    else if (process?.relistId != null)
      distrusted.set(id, { text: `${site}, which is being listed at this moment`, notBefore: nowNs + RELISTING_NS });
  }
  return distrusted;
}

const RELISTING_NS = 60n * 1_000_000_000n;
