import { runSomeAtOnce } from "../../core/run-some-at-once.ts";
import type { BucketObjectModel } from "../../db/generated/models.ts";
import type { ListedName } from "../../store/blobs/buckets/customer-bucket.ts";
import { insertIgnored } from "./insert-ignored.ts";
import { type LookDeps, lookAtObject } from "./look-at-object.ts";
import { isObjectName } from "./note-object.ts";
import { findSiteWithPolicy, type SiteWithPolicy } from "./site-with-policy.ts";
import type { Turn } from "./visit-turn.ts";

const ROWS = 1000;
const AT_ONCE = 8;
const NS_PER_SECOND = 1_000_000_000n;

interface Listing {
  readonly signal: AbortSignal;
  readonly turn: Pick<Turn, "keep">;
}

/**
 * Lists a bucket in the order of its names' bytes beside the rows, and looks at each name in which they differ: what is new, changed or
 * gone, and what a former policy has ignored and this one does not. It holds a page of either, and goes on behind the last page after an
 * interruption.
 */
export async function listNames(deps: LookDeps, siteId: string, { signal, turn }: Listing): Promise<void> {
  const { siteBucket } = deps.db.prisma;
  const nowNs = deps.clock.nowNs();
  await siteBucket.updateMany({
    where: { siteId, listingSinceNs: null },
    data: { listingSinceNs: nowNs, listedUntil: "" },
  });
  const begun = await siteBucket.findUnique({ where: { siteId } });
  if (!begun) return;
  const connection = await deps.buckets.connect(begun);
  let from = begun.listedUntil;
  for await (const page of connection.list(from)) {
    signal.throwIfAborted();
    const ahead = page.filter(({ name }) => isBehind(name, from));
    if (ahead.length < page.length)
      await lookAtLate(
        deps,
        siteId,
        page.filter(({ name }) => !isBehind(name, from)),
      );
    // Another name has no row.
    const last = lastOf(ahead.map(({ name }) => name).filter(isObjectName));
    if (last === undefined) continue;
    await compare(deps, siteId, { from, to: last, page: ahead, signal });
    from = last;
    await siteBucket.updateMany({ where: { siteId }, data: { listedUntil: from } });
    if (!(await turn.keep())) return;
  }
  await compare(deps, siteId, { from, to: undefined, page: [], signal });
  await siteBucket.updateMany({
    where: { siteId, listingSinceNs: begun.listingSinceNs },
    data: { listedAtNs: begun.listingSinceNs, listingSinceNs: null, listedUntil: "" },
  });
}

/** Names are compared by their bytes, as the database does. */
function isBehind(name: string, other: string): boolean {
  return Buffer.compare(Buffer.from(name), Buffer.from(other)) > 0;
}

function lastOf(names: readonly string[]): string | undefined {
  return names.reduce<string | undefined>(
    (last, name) => (last === undefined || isBehind(name, last) ? name : last),
    undefined,
  );
}

/**
 * Looks at names that the bucket lists only after others that stand behind them. Their rows were looked at as if they might be gone, and stay:
 * each is asked for before anything is noted.
 */
async function lookAtLate(deps: LookDeps, siteId: string, late: readonly ListedName[]): Promise<void> {
  const site = await findSiteWithPolicy(deps.db, siteId);
  if (!site) return;
  const listed = new Map(late.map((one) => [one.name, one]));
  const where = { siteId, goneAtNs: null, name: { in: [...listed.keys()].filter(isObjectName) } };
  const rows = await deps.db.prisma.bucketObject.findMany({ where });
  const changed = rows.filter((row) => differs(site, row, listed.get(row.name)));
  for (const { name } of rows) listed.delete(name);
  await lookAtAll(
    deps,
    site,
    changed.map(({ name }) => name),
  );
  await takeFresh(deps, site, [...listed.values()]);
}

interface Stretch {
  readonly from: string;
  /** The last name of the stretch; undefined: there is no name behind it. */
  readonly to: string | undefined;
  readonly page: readonly ListedName[];
  readonly signal: AbortSignal;
}

async function compare(deps: LookDeps, siteId: string, { from, to, page, signal }: Stretch): Promise<void> {
  const site = await findSiteWithPolicy(deps.db, siteId); // with the policy of this moment
  if (!site) return;
  const listed = new Map(page.map((one) => [one.name, one]));
  for (let after = from; ; ) {
    signal.throwIfAborted();
    const rows = await deps.db.prisma.bucketObject.findMany({
      where: { siteId, goneAtNs: null, name: { gt: after, ...(to !== undefined && { lte: to }) } },
      orderBy: { name: "asc" },
      take: ROWS,
    });
    const changed = rows.filter((row) => differs(site, row, listed.get(row.name)));
    const { ignored = [], other = [] } = Object.groupBy(changed, (row) =>
      isStillIgnored(site, row, listed.get(row.name)) ? "ignored" : "other",
    );
    for (const { name } of rows) listed.delete(name);
    await noteRevision(deps, site, ignored);
    await lookAtAll(
      deps,
      site,
      other.map(({ name }) => name),
    );
    if (rows.length < ROWS) break;
    after = rows.at(-1)!.name;
  }
  await takeFresh(deps, site, [...listed.values()]);
}

/** Takes up names that have no row. */
async function takeFresh(deps: LookDeps, site: SiteWithPolicy, listed: readonly ListedName[]): Promise<void> {
  const fresh = listed.filter(({ name }) => isObjectName(name));
  const isIgnored = ({ name }: ListedName) => site.judge(name).type === "ignore";
  await insertIgnored({ tx: deps.db.prisma, nowNs: deps.clock.nowNs() }, site, fresh.filter(isIgnored));
  await lookAtAll(
    deps,
    site,
    fresh.filter((one) => !isIgnored(one)).map(({ name }) => name),
  );
}

async function lookAtAll(deps: LookDeps, site: SiteWithPolicy, names: readonly string[]): Promise<void> {
  await runSomeAtOnce(names, AT_ONCE, (name) => lookAtObject(deps, site, name));
}

function differs(site: SiteWithPolicy, row: BucketObjectModel, listed: ListedName | undefined): boolean {
  if (!listed || !isSameObject(row, listed)) return true;
  if (row.state === "noted") return true; // there was no room for its recording
  return row.state === "ignored" && row.policyRevision !== site.policyRevision;
}

/** A listing knows no versions: a version with the same tag and size is recognized by its time, of which some answers have whole seconds only. */
function isSameObject(row: BucketObjectModel, listed: ListedName): boolean {
  if (row.etag !== listed.etag || row.sizeBytes !== listed.sizeBytes) return false;
  return (row.modifiedAtNs ?? 0n) / NS_PER_SECOND === listed.modifiedAtNs / NS_PER_SECOND;
}

/** Only the policy was changed, and it ignores the object as the former one did. */
function isStillIgnored(site: SiteWithPolicy, row: BucketObjectModel, listed: ListedName | undefined): boolean {
  if (!listed || row.state !== "ignored" || !isSameObject(row, listed)) return false;
  return site.judge(row.name).type === "ignore";
}

/** Rows that were changed meanwhile stay as they are. */
async function noteRevision(
  { db }: LookDeps,
  { policyRevision }: SiteWithPolicy,
  rows: readonly BucketObjectModel[],
): Promise<void> {
  const byLooks = rows.map(({ id, looks }) => ({ id, looks }));
  if (byLooks.length === 0) return;
  await db.prisma.$executeRaw`
    UPDATE "BucketObject" o SET "policyRevision" = ${policyRevision}
    FROM unnest(${byLooks.map(({ id }) => id)}::text[], ${byLooks.map(({ looks }) => looks)}::int[]) AS n(id, looks)
    WHERE o.id = n.id AND o.looks = n.looks AND o.state = 'ignored'`;
}
