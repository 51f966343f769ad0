import { AsyncLocalStorage } from "node:async_hooks";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openTracing } from "@downlink/tracing";
import type { Logger } from "pino";
import { type FileIndexer, openFileIndexer } from "./background/indexing/file-indexer.ts";
import { type JobLook, PgBossQueue } from "./background/jobs/pg-boss-queue.ts";
import { openBodyThread } from "./calls/bodies/body-thread.ts";
import type { Deps } from "./calls/context/context.ts";
import { consoleFolder } from "./calls/routes/console-route.ts";
import { guideFolder } from "./calls/routes/guide-route.ts";
import { prepareDeployment } from "./calls/setup/first-start.ts";
import type { Config } from "./config.ts";
import type { Clock } from "./core/clock.ts";
import { requireFolder } from "./core/require-folder.ts";
import { createLinkSigner } from "./core/signed-link.ts";
import { StopSteps } from "./core/stop-steps.ts";
import { openDatabase } from "./db/client.ts";
import { startEmbeddedPostgres } from "./db/embedded-postgres.ts";
import { applyMigrations, listMigrations, migrationsDir } from "./db/migrations.ts";
import type { ScheduledBackups } from "./keeping/backup/scheduled-backup.ts";
import { openStores } from "./keeping/stores/open-stores.ts";
import { traceStore } from "./keeping/stores/trace-store.ts";
import { KeptCredentials } from "./process/credentials/kept-credentials.ts";
import { watchMakers } from "./process/credentials/link-makers.ts";
import { NotedTokenUses } from "./process/credentials/token-uses.ts";
import { IdentityProvider } from "./process/identity-provider/identity-provider.ts";
import { CallRates } from "./process/limits/call-rates.ts";
import { createTurns } from "./process/limits/turns.ts";
import type { OwnFolder } from "./process/metrics/measure-room.ts";
import { createMetrics } from "./process/metrics/metrics.ts";
import { fetchPublic as fetchFromInternet, type PublicFetch } from "./process/outgoing/public-fetch.ts";
import { Passwords } from "./process/passwords/passwords.ts";
import { Tries } from "./process/passwords/tries.ts";
import { Admission } from "./process/polls/admission.ts";
import { AgentPolls } from "./process/polls/agent-polls.ts";
import { LeaseRenewals } from "./process/polls/lease-renewals.ts";
import { listenForWorkSignals } from "./process/polls/work-signals.ts";
import { observeCalls } from "./store/bucket-uploads/observe-calls.ts";
import { shortNameOf, addressOf as storeAddressOf } from "./store/bucket-uploads/store-address.ts";
import { openCustomerBuckets } from "./store/customer-buckets/open-buckets.ts";
import { routeObjects } from "./store/customer-buckets/route-objects.ts";

const MAX_CONNECTIONS = 20;

export interface OpenDeps extends Deps, AsyncDisposable {
  readonly jobs: PgBossQueue;
  readonly tokenUses: NotedTokenUses;
  readonly stopSteps: StopSteps;
  readonly scheduledBackups: ScheduledBackups;
  /** Sets the address that links are built from, once the server listens; an address that the operator set stays. */
  setPublicUrl(url: string): void;
  beginStopping(): void;
}

const systemClock: Clock = { nowNs: () => BigInt(Date.now()) * 1_000_000n };

interface Choices {
  readonly clock?: Clock | undefined;
  readonly fetchPublic?: PublicFetch | undefined;
  /** Starts the database if the configuration names none; a test or a command may join one that another process serves. */
  readonly openPostgres?: typeof startEmbeddedPostgres;
  /** How the workers look for jobs; undefined: as in production. */
  readonly jobs?: JobLook | undefined;
  /** How passwords are hashed; undefined: as in production. */
  readonly passwords?: Passwords | undefined;
  /** The reader of stored files, which is closed with the rest; undefined: one with threads of its own. */
  readonly indexer?: FileIndexer | undefined;
  /** Knows what is being closed, for a process that was told to stop and does not end. */
  readonly stopSteps?: StopSteps;
}

/** Opens everything that the configuration names, in order; disposing closes it in the reverse one. */
export async function openDeps(
  config: Config,
  log: Logger,
  {
    clock = systemClock,
    fetchPublic = fetchFromInternet,
    openPostgres = startEmbeddedPostgres,
    jobs,
    passwords = new Passwords(),
    indexer = openFileIndexer(),
    stopSteps = new StopSteps(),
  }: Choices = {},
): Promise<OpenDeps> {
  await using opened = new AsyncDisposableStack();
  opened.defer(() => stopSteps.end());
  const use = <T extends Disposable | AsyncDisposable>(step: string, part: T) => stopSteps.use(opened, step, part);
  const tracing = use("what sends traces", openTracing(config.tracing, { warn: (message) => log.warn(message) }));
  const { url, db } = await openMigrated(use, { config, log, openPostgres });
  const deployment = await prepareDeployment(db, {
    adminKey: config.adminKey,
    nowNs: clock.nowNs(),
    keepAdminKey: (token) => keepAdminKey(config, token),
  });
  const metrics = createMetrics();
  const renewals = opened.use(new LeaseRenewals({ pool: db.pool, clock }));
  const polls = opened.use(new AgentPolls({ renewals, log }));
  const signer = createLinkSigner([config.signingKey ?? deployment.signingKey]);
  const stopping = new AbortController();
  stopping.signal.addEventListener("abort", () => polls.answerAll());
  const address = addressOf(config);
  const store = storeAddressOf(config);
  const { findCredentials, removalDelaySeconds } = config;
  const buckets = openCustomerBuckets(opened, { db, findCredentials, onCall: observeCalls(metrics) });
  const objects = await openStores(opened, store, { db, metrics, signer, clock, ...address });
  const own = {
    ...{ db, clock, fetchPublic, log, metrics, passwords, tracing, signer, renewals, polls },
    ...{ ...address, stopping: stopping.signal, stopSteps },
    indexer: use("the threads that index", indexer),
    bodies: use("the thread that decodes large bodies", openBodyThread()),
    jobs: use("the jobs", await PgBossQueue.start({ url, log, metrics, tracing, removalDelaySeconds, ...jobs })),
    credentials: use("the connection for changes of keys", await KeptCredentials.start({ url, db, log })),
    linkMakers: watchMakers({ db, clock, log }),
    tokenUses: use("the uses of tokens", new NotedTokenUses({ db, clock, log })),
    buckets,
    blobs: traceStore(routeObjects(objects, buckets), tracing),
    migrations: await listMigrations(migrationsDir),
    folders: foldersOf(config),
    scheduledBackups: { settings: config, embeddedUrl: config.databaseUrl === undefined ? url : undefined },
    admission: { hellos: new Admission(), reads: new Admission() },
    beginStopping: () => stopping.abort(),
  };
  const signals = listenForWorkSignals({ url, log, listener: polls, store: shortNameOf(store) });
  use("the connection for signals of work", await signals);
  const closing = opened.move();
  return { ...own, ...chosenBy(config, log), [Symbol.asyncDispose]: () => closing.disposeAsync() };
}

interface Opening extends Required<Pick<Choices, "openPostgres">> {
  readonly config: Config;
  readonly log: Logger;
}

/** Opens the database; every process applies all migrations at its start. */
async function openMigrated(
  use: <T extends AsyncDisposable>(step: string, part: T) => T,
  { config, log, openPostgres }: Opening,
) {
  await requireFolder(config.dataDir, "DOWNLINK_DATA_DIR");
  const url =
    config.databaseUrl ??
    use("Postgres", await openPostgres({ dir: join(config.dataDir, "postgres"), log: quietly(log) })).url;
  await applyMigrations({ url, dir: migrationsDir, log });
  const db = openDatabase(url, { maxConnections: MAX_CONNECTIONS, log });
  return { url, db: use("the connections to the database", db) };
}

/** Returns the folders on our own disks. Objects in a bucket and a Postgres elsewhere have none. */
function foldersOf({ bucket, objectsDir, databaseUrl, dataDir }: Config): OwnFolder[] {
  return [
    ...(bucket === undefined ? [{ of: "objects", path: objectsDir } as const] : []),
    ...(databaseUrl === undefined ? [{ of: "database", path: dataDir } as const] : []),
  ];
}

/**
 * Returns the address that links are built from. If the operator chose none, it is the one at which the present call arrived, so that links
 * lead back the way that their caller came.
 */
function addressOf({ publicUrl, host, port }: Config): Pick<OpenDeps, "publicUrl" | "setPublicUrl" | "withOrigin"> {
  let listening = `http://${host}:${port}`;
  const calledAt = new AsyncLocalStorage<string>();
  return {
    publicUrl: () => publicUrl ?? calledAt.getStore() ?? listening,
    withOrigin: (origin, answer) => (publicUrl === undefined ? calledAt.run(origin, answer) : answer()),
    setPublicUrl: (url) => {
      listening = url;
    },
  };
}

function signInsOf({ signIn: { provider, ...chosen } }: Config, log: Logger): Deps["signIns"] {
  return { ...chosen, provider: provider && new IdentityProvider(provider, log) };
}

/** Returns the operator's settings under the names by which the code looks them up. */
function chosenBy(config: Config, log: Logger) {
  return {
    metricsToken: config.metricsToken,
    securityContact: config.securityContact,
    agentPackages: config.agentPackages,
    consoleFolder: config.servesConsole ? consoleFolder() : undefined,
    guideFolder: config.servesConsole ? guideFolder() : undefined,
    linkOrigins: config.linkOrigins,
    viewers: config.viewers,
    apiOrigins: config.apiOrigins,
    deleteSafety: config.deleteSafety,
    deleteProofAgeSeconds: config.deleteProofAgeSeconds,
    scrubDays: config.scrubDays,
    backupSchedule: config.backups.schedule,
    backupRetentionSeconds: config.backupRetentionSeconds,
    auditRetentionSeconds: config.auditRetentionSeconds,
    removalDelaySeconds: config.removalDelaySeconds,
    readsWholeChunks: config.exportsWholeChunks,
    limits: config.limits,
    listBucketsSeconds: config.listBucketsSeconds,
    rates: new CallRates(config.limits.rates),
    turns: createTurns(config.limits.turns),
    signIns: signInsOf(config, log),
    deviceCodeTries: new Tries(),
    trustedProxies: config.trustedProxies,
    webhookNetworks: config.webhookNetworks,
  };
}

/** The key is kept in a file that only the operator may read, and printed once on a terminal: a log would keep it for many readers. */
async function keepAdminKey(config: Config, adminKey: string): Promise<void> {
  const file = join(config.dataDir, "admin.key");
  await writeFile(file, `${adminKey}\n`, { mode: 0o600 });
  await chmod(file, 0o600);
  if (config.adminKey !== undefined) return;
  if (process.stdout.isTTY !== true) return void process.stdout.write(`The admin API key is in ${file}\n`);
  process.stdout.write(`\nAdmin API key (shown once, kept in ${file}):\n\n    ${adminKey}\n\n`);
}

/** Messages of Postgres about itself are logged at a low level, for those who look for them. */
function quietly(log: Logger) {
  return { info: (message: string) => log.debug(message), warn: (message: string) => log.warn(message) };
}
