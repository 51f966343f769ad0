import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { createLinkSigner } from "./blobs/signed-link.ts";
import { openStore } from "./bucket-uploads/open-store.ts";
import type { Config } from "./config.ts";
import type { Deps } from "./context/context.ts";
import type { Clock } from "./core/clock.ts";
import { KeptCredentials } from "./credentials/kept-credentials.ts";
import { NotedTokenUses } from "./credentials/token-uses.ts";
import { openDatabase } from "./db/client.ts";
import { startEmbeddedPostgres } from "./db/embedded-postgres.ts";
import { applyMigrations, listMigrations, migrationsDir } from "./db/migrations.ts";
import { openFileIndexer } from "./indexing/file-indexer.ts";
import { PgBossQueue } from "./jobs/pg-boss-queue.ts";
import { CallRates } from "./limits/call-rates.ts";
import { createTurns } from "./limits/turns.ts";
import { createMetrics } from "./metrics/metrics.ts";
import { Admission } from "./polls/admission.ts";
import { AgentPolls } from "./polls/agent-polls.ts";
import { LeaseRenewals } from "./polls/lease-renewals.ts";
import { listenForWorkSignals } from "./polls/work-signals.ts";
import { prepareDeployment } from "./setup/first-start.ts";

const MAX_CONNECTIONS = 20;

export interface OpenDeps extends Deps, AsyncDisposable {
  readonly jobs: PgBossQueue;
  readonly tokenUses: NotedTokenUses;
  /** What links are built from once the server listens, unless the operator set it. */
  setPublicUrl(url: string): void;
  beginStopping(): void;
}

const systemClock: Clock = { nowNs: () => BigInt(Date.now()) * 1_000_000n };

interface Choices {
  readonly clock?: Clock | undefined;
  /**
   * Starts the database where the configuration names none; a test or a command may join one that another process
   * serves.
   */
  readonly openPostgres?: typeof startEmbeddedPostgres;
}

/** Opens everything that the configuration names, in order; disposing closes it in the reverse one. */
export async function openDeps(
  config: Config,
  log: Logger,
  { clock = systemClock, openPostgres = startEmbeddedPostgres }: Choices = {},
): Promise<OpenDeps> {
  await using opened = new AsyncDisposableStack();
  const { url, db } = await openMigrated(opened, { config, log, openPostgres });
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
  const { publicUrl } = address;
  const own = {
    ...{ db, clock, log, metrics, signer, renewals, polls, ...address, stopping: stopping.signal },
    indexer: opened.use(openFileIndexer()),
    jobs: opened.use(await PgBossQueue.start({ url, log, metrics })),
    credentials: opened.use(await KeptCredentials.start({ url, db, log })),
    tokenUses: opened.use(new NotedTokenUses({ db, clock, log })),
    blobs: await openStore(opened, { ...config, db, signer, publicUrl, clock }),
    migrations: await listMigrations(migrationsDir),
    admission: { hellos: new Admission(), reads: new Admission() },
    beginStopping: () => stopping.abort(),
  };
  opened.use(await listenForWorkSignals({ url, log, listener: polls }));
  const closing = opened.move();
  return { ...own, ...chosenBy(config), [Symbol.asyncDispose]: () => closing.disposeAsync() };
}

interface Opening extends Required<Pick<Choices, "openPostgres">> {
  readonly config: Config;
  readonly log: Logger;
}

/** The database, of which a process that starts has all migrations. */
async function openMigrated(opened: AsyncDisposableStack, { config, log, openPostgres }: Opening) {
  await mkdir(config.dataDir, { recursive: true });
  const url =
    config.databaseUrl ??
    opened.use(await openPostgres({ dir: join(config.dataDir, "postgres"), log: quietly(log) })).url;
  await applyMigrations({ url, dir: migrationsDir, log });
  return { url, db: opened.use(openDatabase(url, { maxConnections: MAX_CONNECTIONS, log })) };
}

/** Links are built from this address. */
function addressOf({ publicUrl, host, port }: Config): Pick<OpenDeps, "publicUrl" | "setPublicUrl"> {
  let known = publicUrl;
  return {
    publicUrl: () => known ?? `http://${host}:${port}`,
    setPublicUrl: (listening) => {
      known ??= listening;
    },
  };
}

/** What an operator chooses, in the words of those who look it up. */
function chosenBy(config: Config) {
  return {
    metricsToken: config.metricsToken,
    linkOrigins: config.linkOrigins,
    deleteSafetySeconds: config.deleteSafetySeconds,
    readsWholeChunks: config.exportsWholeChunks,
    limits: config.limits,
    rates: new CallRates(config.limits.rates),
    turns: createTurns(config.limits.turns),
    trustedProxies: config.trustedProxies,
  };
}

/** Printed once, and kept where only the operator reads it. */
async function keepAdminKey(config: Config, adminKey: string): Promise<void> {
  const file = join(config.dataDir, "admin.key");
  await writeFile(file, `${adminKey}\n`, { mode: 0o600 });
  await chmod(file, 0o600);
  if (config.adminKey !== undefined) return;
  process.stdout.write(`\nAdmin API key (shown once, kept in ${file}):\n\n    ${adminKey}\n\n`);
}

/** What Postgres says of itself is for those who look for it. */
function quietly(log: Logger) {
  return { info: (message: string) => log.debug(message), warn: (message: string) => log.warn(message) };
}
