import { type api, type Input, type Output, siteLimits } from "@downlink/protocol";
import type { SiteCtx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import { ApiError, refuse } from "../../core/errors.ts";
import type { SiteModel, SiteProcessModel } from "../../db/generated/models.ts";
import { holdIncarnation } from "../../db/incarnation.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { keepKeys } from "../../store/site-keys/site-key-rows.ts";
import { compareSides, newRelisting } from "./relisting.ts";
import { takeSiteLease } from "./site-lease.ts";
import { toKeys } from "./site-rows.ts";

type Hello = (typeof api.site)["hello"];

/** Two hellos of one site come one after the other, because the first thing that each does is to lock the site's row. */
export async function hello(ctx: SiteCtx, body: Input<Hello>): Promise<Complete<Output<Hello>>> {
  const { siteId, orgId } = ctx.caller;
  const greeted = await withTransaction(ctx.db, async (tx) => {
    const site = await holdSite(tx, siteId);
    const nowNs = ctx.clock.nowNs();
    const incarnation = await holdIncarnation(tx);
    const lease = await greet(ctx, tx, { site, body, nowNs });
    return { site, lease, incarnation, keys: toKeys(await keepKeys(tx, { siteId, incarnation, nowNs })) };
  });
  return {
    orgId,
    siteId,
    name: greeted.site.name,
    lease: Number(greeted.lease),
    serverTime: ctx.clock.nowNs(),
    incarnation: greeted.incarnation,
    keys: greeted.keys,
    longPollSeconds: siteLimits.longPollSeconds,
  };
}

async function holdSite(tx: Transaction, siteId: string): Promise<SiteModel> {
  await tx.$queryRaw`SELECT id FROM "Site" WHERE id = ${siteId} FOR NO KEY UPDATE`;
  const site = await tx.site.findUnique({ where: { id: siteId } });
  return site ?? refuse("Unauthenticated", "the site that the token was for was deleted");
}

interface Greeting {
  readonly site: SiteModel;
  readonly body: Input<Hello>;
  readonly nowNs: bigint;
}

async function greet({ log }: SiteCtx, tx: Transaction, { site, body, nowNs }: Greeting): Promise<bigint> {
  const { instanceId, formerInstanceIds, programVersion, store, url } = body;
  const current = await tx.siteProcess.findUnique({ where: { siteId: site.id } });
  const lease = body.lease === undefined ? undefined : BigInt(body.lease);
  const taken = takeSiteLease(current, { instanceId, formerInstanceIds, lease, nowNs });
  if (current && current.storeId !== store.id && !store.isAccepted) await requireNoObjects(tx, site);
  const comparison = current ? compareSides(current, body) : undefined;
  if (comparison?.endsWith("set back")) log.error({ siteId: site.id }, `${comparison}: its objects are listed again`);
  // A store that was set back may lack files by topic: all are made again.
  if (comparison === "the site was set back") await tx.lake.deleteMany({ where: { siteId: site.id } });
  const said = { lastSeenAtNs: nowNs, programVersion, storeKind: store.kind, url, storeId: store.id };
  const newest = { storeStarts: BigInt(store.starts), storeMark: store.marks.at(-1)! };
  const relisting = comparison === undefined ? { relistedAtNs: nowNs } : comparison !== "same" && newRelisting();
  const isTakenOver = current !== null && !isContinued(current, body);
  const data = {
    ...taken,
    ...said,
    ...newest,
    ...relisting,
    ...(isTakenOver && { proofsHeldUntilNs: nowNs + PROOFS_HELD_NS }),
  };
  await tx.siteProcess.upsert({ where: { siteId: site.id }, create: { siteId: site.id, ...data }, update: data });
  return taken.leaseNumber;
}

/** So long nothing proves deletions at a site that another process took over, because that may have a token that was stolen. */
const PROOFS_HELD_NS = 24n * 3600n * 1_000_000_000n;

/** Says whether the process is the one that had the lease, or goes on with its data folder and with its store as they were last. */
function isContinued(current: SiteProcessModel, body: Input<Hello>): boolean {
  const { instanceId, formerInstanceIds, lease } = body;
  const { leaseInstanceId, leaseNumber } = current;
  const isSame = instanceId === leaseInstanceId || formerInstanceIds.includes(leaseInstanceId);
  const knowsLast = isSame || BigInt(lease ?? 0) === leaseNumber;
  return knowsLast && !compareSides(current, body).endsWith("set back");
}

/** A process over another store would not find what the site has promised to keep. */
async function requireNoObjects(tx: Transaction, { id, name }: SiteModel): Promise<void> {
  const count = await tx.siteObject.count({ where: { siteId: id } });
  if (count === 0) return;
  const ways = "start the process over that one, restore it, or give up on its files with --accept-store";
  const sentence = `site "${name}" has ${count} files in another store; ${ways}`;
  throw new ApiError("Conflict", sentence);
}
