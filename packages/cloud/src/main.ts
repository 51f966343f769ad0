#!/usr/bin/env node
import { Command, InvalidArgumentError } from "commander";
import { requireUsable } from "./bucket-uploads/open-store.ts";
import { type Config, readConfig } from "./config.ts";
import { mintToken } from "./credentials/mint.ts";
import { joinEmbeddedPostgres, startEmbeddedPostgres } from "./db/embedded-postgres.ts";
import { sqlState, UNIQUE_VIOLATION } from "./db/sql-state.ts";
import { withTransaction } from "./db/transaction.ts";
import { type OpenDeps, openDeps } from "./deps.ts";
import { boundHeapGrowth } from "./heap-growth.ts";
import { printReindex, reindex } from "./ingest/reindex.ts";
import { openLog } from "./log.ts";
import { operatorMessage } from "./operator-message.ts";
import { setQuotas } from "./quotas/set-quotas.ts";
import { type RunningServer, startHealthServer, startServer } from "./server.ts";
import { createOrganization } from "./setup/organization.ts";
import { printSweep } from "./sweep/print-sweep.ts";
import { DEFAULT_AGE_HOURS, MIN_AGE_HOURS, sweep } from "./sweep/sweep.ts";
import { startWorker } from "./worker.ts";

const SAME_SIGNAL_MS = 1000;

const program = new Command("downlink").description("The Downlink control plane");
program
  .command("all")
  .description("serve the API and work on jobs, in one process")
  .action(() => run({ serves: true, works: true }));
program
  .command("serve")
  .description("serve the API")
  .action(() => run({ serves: true, works: false }));
program
  .command("work")
  .description("work on jobs")
  .action(() => run({ serves: false, works: true }));
program
  .command("migrate")
  .description("bring the database up to date, and end")
  .action(() => withDeps(async () => undefined));
const admin = program.command("admin").description("operate this deployment");
admin.command("create-org <name>").description("create an organization and print its admin API key").action(createOrg);
admin
  .command("limits <organization>")
  .description("show what an organization, by its id or name, stores and may store; change what is given")
  .option("--stored-bytes <number>", "bytes of its files, or none", readQuota)
  .option("--recordings <number>", "recordings with data, or none", readQuota)
  .option("--exports <number>", "exports at once in one process, or none", readQuota)
  .action(limitOrganization);
admin
  .command("sweep")
  .description("remove from the store what crashes left there, and tell what is missing")
  .option("--dry-run", "only print what would be removed", false)
  .option("--older-than <hours>", "leave alone what is younger", readHours, DEFAULT_AGE_HOURS)
  .option("--include-unknown", "remove whole objects that no row ever named, too", false)
  .action(sweepStore);

admin
  .command("reindex")
  .description("make the verified indexes of imported recordings that have none")
  .option("--all", "also of those that have one", false)
  .action(reindexStore);

try {
  await program.parseAsync();
} catch (error) {
  const known = operatorMessage(error);
  if (!known) throw error;
  process.stderr.write(`downlink: ${known.message}\n`);
  process.exitCode = known.exitCode;
}

async function run({ serves, works }: { serves: boolean; works: boolean }): Promise<void> {
  boundHeapGrowth();
  const runUntilStopped: Use = async (deps, config, stopped) => {
    await requireUsable(config.bucket);
    await using server = serves ? await startServer(config, deps) : undefined;
    await using health = serves ? undefined : await openHealth(config, deps);
    if (works) await startWorker(deps);
    if (server) process.stdout.write(`Downlink serves at ${server.url}\n`);
    if (health) process.stdout.write(`Downlink works; its health is at ${health.url}\n`);
    await stopped;
    deps.log.info("stopping");
    deps.beginStopping();
  };
  await open(runUntilStopped, startEmbeddedPostgres);
}

async function openHealth({ workPort, ...config }: Config, deps: OpenDeps): Promise<RunningServer | undefined> {
  return workPort === undefined ? undefined : await startHealthServer({ ...config, workPort }, deps);
}

async function createOrg(name: string): Promise<void> {
  await withDeps(async (deps) => {
    const adminToken = mintToken("dl_sk");
    try {
      const orgId = await withTransaction(deps.db, (tx) =>
        createOrganization(tx, { name, adminToken, nowNs: deps.clock.nowNs() }),
      );
      process.stdout.write(`organization ${orgId}\nadmin API key (shown once): ${adminToken}\n`);
    } catch (error) {
      if (sqlState(error) !== UNIQUE_VIOLATION) throw error;
      process.stderr.write(`downlink: there is an organization named "${name}" already\n`);
      process.exitCode = 1;
    }
  });
}

/** `null` takes a limit away. */
function readQuota(text: string): bigint | null {
  if (text === "none") return null;
  if (/^\d{1,18}$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError("A whole number, or none.");
}

interface LimitFlags {
  readonly storedBytes?: bigint | null;
  readonly recordings?: bigint | null;
  readonly exports?: bigint | null;
}

async function limitOrganization(
  organization: string,
  { storedBytes, recordings, exports }: LimitFlags,
): Promise<void> {
  await withDeps(async ({ db }) => {
    const toCount = (given: bigint | null | undefined) => (typeof given === "bigint" ? Number(given) : given);
    const changes = { maxStoredBytes: storedBytes, maxRecordings: toCount(recordings), maxExports: toCount(exports) };
    const shown = await setQuotas(db, organization, changes);
    process.stdout.write(shown ?? "");
    if (shown !== undefined) return;
    process.stderr.write(`downlink: there is no organization "${organization}"\n`);
    process.exitCode = 1;
  });
}

function readHours(text: string): number {
  const hours = Number(text);
  if (hours >= MIN_AGE_HOURS) return hours;
  throw new InvalidArgumentError(`An upload may take that long: at least ${MIN_AGE_HOURS}.`);
}

interface SweepFlags {
  readonly dryRun: boolean;
  readonly olderThan: number;
  readonly includeUnknown: boolean;
}

async function sweepStore({ dryRun, olderThan, includeUnknown }: SweepFlags): Promise<void> {
  await withDeps(async (deps) => {
    const nowMs = Number(deps.clock.nowNs() / 1_000_000n);
    const options = { isDryRun: dryRun, olderThanHours: olderThan, includesUnknown: includeUnknown, nowMs };
    const write = (text: string) => void process.stdout.write(text);
    if (!(await printSweep(sweep(deps, options), { isDryRun: dryRun, write }))) process.exitCode = 1;
  });
}

async function reindexStore({ all }: { all: boolean }): Promise<void> {
  await withDeps(async (deps, _config, stopped) => {
    const stopping = new AbortController();
    void stopped.then(() => stopping.abort(new Error("told to stop")));
    const write = (text: string) => void process.stdout.write(text);
    if (!(await printReindex(reindex(deps, { isForced: all, signal: stopping.signal }), write))) process.exitCode = 1;
  });
}

type Use = (deps: OpenDeps, config: ReturnType<typeof readConfig>, stopped: Promise<void>) => Promise<void>;

/**
 * Opens the database for a command, also beside a running control plane: its Postgres is used, where it has one of
 * its own.
 */
async function withDeps(use: Use): Promise<void> {
  await open(use, joinEmbeddedPostgres);
}

async function open(use: Use, openPostgres: typeof startEmbeddedPostgres): Promise<void> {
  const config = readConfig(process.env);
  const log = openLog(config.logLevel);
  const stopped = untilStopped();
  await using deps = await openDeps(config, log, { openPostgres });
  await use(deps, config, stopped);
}

/**
 * Resolves at the first SIGTERM, SIGINT or hang-up of the terminal; a later one ends the process at once. One within the first
 * second is the same: a supervisor or a terminal tells every process of a group, and our starter passes on what it was told.
 */
function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    let firstMs: number | undefined;
    const onSignal = () => {
      firstMs ??= performance.now();
      if (performance.now() - firstMs > SAME_SIGNAL_MS) process.exit(1);
      resolve();
    };
    process.on("SIGTERM", onSignal).on("SIGINT", onSignal).on("SIGHUP", onSignal);
  });
}
