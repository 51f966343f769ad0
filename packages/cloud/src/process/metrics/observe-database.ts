import type { Database } from "../../db/client.ts";
import { Prisma } from "../../db/generated/client.ts";
import { newPoolReader } from "../../db/read-sql.ts";
import { LAST_WHOLE_READ } from "../../db/stored-data.ts";
import type { Metrics } from "./metrics.ts";

/** Returns one row for each queue, even if it is empty. The queue's own jobs begin with two underscores. */
const JOBS = Prisma.sql`
  SELECT q.name,
    count(*) FILTER (WHERE j.state = 'created')::int AS waiting,
    count(*) FILTER (WHERE j.state = 'retry')::int AS retrying,
    count(*) FILTER (WHERE j.state = 'active')::int AS active,
    count(*) FILTER (WHERE j.state = 'failed')::int AS failed,
    coalesce(extract(epoch FROM now() - min(j.start_after) FILTER (WHERE j.state IN ('created', 'retry'))), 0)::float8 AS "oldestSeconds"
  FROM pgboss.queue q LEFT JOIN pgboss.job j ON j.name = q.name AND j.state IN ('created', 'retry', 'active', 'failed')
  WHERE NOT starts_with(q.name, '__') GROUP BY q.name`;
/** Ids are in the order of time, so the first one is the oldest. No more are counted than can be counted quickly. */
const OUTBOX = Prisma.sql`
  WITH counted AS MATERIALIZED (SELECT "eventId" FROM "WebhookDelivery" WHERE state = 'waiting' LIMIT 10001)
  SELECT (SELECT count(*) FROM counted)::int AS entries, (SELECT extract(epoch FROM now())::float8 - "occurredAtNs" / 1e9
    FROM "OutboxEvent" WHERE id = (SELECT min("eventId") FROM counted))::float8 AS "oldestSeconds"`;
const AGENTS = Prisma.sql`SELECT count(*)::int AS online FROM "Agent" WHERE "leaseExpiresAtNs" > extract(epoch FROM now())::int8 * 1000000000`;
const SITES = Prisma.sql`
  SELECT count(*) FILTER (WHERE "leaseExpiresAtNs" > extract(epoch FROM now())::int8 * 1000000000)::int AS online, count(*)::int AS "all"
  FROM "SiteProcess"`;
const BUCKETS = Prisma.sql`
  SELECT count(*) FILTER (WHERE problem IS NULL AND "listedAtNs" IS NOT NULL)::int AS readable,
    count(*) FILTER (WHERE problem IS NOT NULL)::int AS unreadable,
    count(*) FILTER (WHERE problem IS NULL AND "listedAtNs" IS NULL)::int AS unknown FROM "SiteBucket"`;
/** One that its organization disabled is no concern of the operator. */
const WEBHOOKS = Prisma.sql`
  SELECT count(*) FILTER (WHERE enabled AND "failingSinceNs" IS NULL)::int AS delivering,
    count(*) FILTER (WHERE enabled AND "failingSinceNs" IS NOT NULL)::int AS failing,
    count(*) FILTER (WHERE NOT enabled AND "disabledReason" IS NOT NULL)::int AS disabled FROM "Webhook"`;
const DAMAGED = Prisma.sql`
  SELECT count(*) FILTER (WHERE "storedDamage" = 'missing')::int AS missing,
    count(*) FILTER (WHERE "storedDamage" = 'truncated')::int AS truncated,
    count(*) FILTER (WHERE "storedDamage" = 'altered')::int AS altered FROM "Recording" WHERE "storedDamage" IS NOT NULL`;
const DEPLOYMENT = Prisma.sql`
  SELECT num_nonnulls(conflict, "recoveringSinceNs") > 0 AS "isRecovering",
    (SELECT coalesce(max("startedAtNs") / 1e9, 0) FROM "Backup")::float8 AS "lastBackup" FROM "Deployment" WHERE id = 1`;

interface QueueRow {
  readonly name: string;
  readonly waiting: number;
  readonly retrying: number;
  readonly active: number;
  readonly failed: number;
  readonly oldestSeconds: number;
}

interface OutboxRow {
  readonly entries: number;
  /** Null if it is empty. */
  readonly oldestSeconds: number | null;
}

interface BucketRow {
  readonly readable: number;
  readonly unreadable: number;
  readonly unknown: number;
}

interface SiteRow {
  readonly online: number;
  readonly all: number;
}

type DamageRow = Readonly<Record<"missing" | "truncated" | "altered", number>>;
type WebhookRow = Readonly<Record<"delivering" | "failing" | "disabled", number>>;

interface DeploymentRow {
  readonly isRecovering: boolean;
  /** In seconds since 1970; 0 if there is none. */
  readonly lastBackup: number;
}

interface Observed {
  readonly db: Pick<Database, "pool">;
  readonly metrics: Metrics;
}

/** Values that only the database knows. If it does not answer, the metrics report that, and no older values. */
export async function observeDatabase(
  { db, metrics }: Observed,
  inTime: <T>(work: Promise<T>) => Promise<T>,
): Promise<void> {
  observeConnections(db, metrics);
  const read = newPoolReader(db);
  for (const gauge of [
    metrics.jobs,
    metrics.oldestJobSeconds,
    metrics.sites,
    metrics.buckets,
    metrics.webhooks,
    metrics.damagedRecordings,
  ])
    gauge.reset();
  try {
    const queues = await inTime(read<QueueRow>(JOBS));
    const [agents] = await inTime(read<{ online: number }>(AGENTS));
    const [outbox] = await inTime(read<OutboxRow>(OUTBOX));
    const [sites] = await inTime(read<SiteRow>(SITES));
    const [buckets] = await inTime(read<BucketRow>(BUCKETS));
    const [webhooks] = await inTime(read<WebhookRow>(WEBHOOKS));
    const [damaged] = await inTime(read<DamageRow>(DAMAGED));
    const [wholeRead] = await inTime(read<{ seconds: number }>(LAST_WHOLE_READ));
    const [deployment] = await inTime(read<DeploymentRow>(DEPLOYMENT));
    for (const queue of queues) setQueue(metrics, queue);
    metrics.outboxEntries.set(outbox!.entries);
    metrics.oldestOutboxSeconds.set(Math.max(0, outbox!.oldestSeconds ?? 0));
    metrics.agentsOnline.set(agents!.online);
    metrics.sites.set({ state: "online" }, sites!.online);
    metrics.sites.set({ state: "away" }, sites!.all - sites!.online);
    for (const state of ["readable", "unreadable", "unknown"] as const) metrics.buckets.set({ state }, buckets![state]);
    for (const state of ["delivering", "failing", "disabled"] as const)
      metrics.webhooks.set({ state }, webhooks![state]);
    for (const reason of ["missing", "truncated", "altered"] as const)
      metrics.damagedRecordings.set({ reason }, damaged![reason]);
    metrics.lastWholeRead.set(wholeRead!.seconds);
    metrics.recovering.set(deployment!.isRecovering ? 1 : 0);
    metrics.lastBackup.set(deployment!.lastBackup);
    metrics.databaseUp.set(1);
  } catch {
    metrics.databaseUp.set(0); // whatever it is: who reads metrics must learn of it by them
    for (const gauge of unknownWhenAway(metrics)) gauge.set(Number.NaN);
  }
}

function observeConnections({ pool }: Observed["db"], metrics: Metrics): void {
  metrics.databaseConnections.set({ state: "busy" }, pool.totalCount - pool.idleCount);
  metrics.databaseConnections.set({ state: "idle" }, pool.idleCount);
  metrics.databaseWaiting.set(pool.waitingCount);
}

function unknownWhenAway(metrics: Metrics) {
  const { recovering, lastBackup, lastWholeRead, agentsOnline, outboxEntries, oldestOutboxSeconds } = metrics;
  return [recovering, lastBackup, lastWholeRead, agentsOnline, outboxEntries, oldestOutboxSeconds];
}

function setQueue({ jobs, oldestJobSeconds }: Metrics, { name: queue, oldestSeconds, ...row }: QueueRow): void {
  for (const state of ["waiting", "retrying", "active", "failed"] as const) jobs.set({ queue, state }, row[state]);
  oldestJobSeconds.set({ queue }, Math.max(0, oldestSeconds));
}
