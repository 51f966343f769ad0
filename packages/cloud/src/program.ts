import { Command, InvalidArgumentError } from "commander";
import { addJobCommands } from "./background/jobs/job-commands.ts";
import { addSiteCommands } from "./buckets/bucket-objects/site-commands.ts";
import { addLimitsCommand } from "./calls/quotas/limits-command.ts";
import { createOrganization } from "./calls/setup/organization.ts";
import { type Config, nameDatabase, readConfig, readSiteConfig, settingNames } from "./config.ts";
import { boundHeapGrowth, keepHeapSmall, withSmallHeap } from "./core/heap-growth.ts";
import { PROGRAM_VERSION } from "./core/program-version.ts";
import { requireFolder } from "./core/require-folder.ts";
import { exitIfStuck, StopSteps } from "./core/stop-steps.ts";
import { addIndexingCommand } from "./data/lake-files/indexing-command.ts";
import { joinEmbeddedPostgres, type startEmbeddedPostgres } from "./db/embedded-postgres.ts";
import { retryUntilThere } from "./db/retry-until-there.ts";
import { sqlState, UNIQUE_VIOLATION } from "./db/sql-state.ts";
import { withTransaction } from "./db/transaction.ts";
import { type OpenDeps, openDeps } from "./deps.ts";
import { printReindex, reindex } from "./imports/ingest/reindex.ts";
import { addBackupCommands } from "./keeping/backup/backup-commands.ts";
import { requireRestored } from "./keeping/backup/restore-backup.ts";
import { addCheckCommand } from "./keeping/integrity/check-command.ts";
import { printSweep } from "./keeping/sweep/print-sweep.ts";
import { DEFAULT_AGE_HOURS, MIN_AGE_HOURS, sweep } from "./keeping/sweep/sweep.ts";
import { openLog } from "./log.ts";
import { addOrganizationCommands } from "./operator-commands/add-commands.ts";
import { addAuditCommand } from "./organization/audit/audit-command.ts";
import { mintToken } from "./process/credentials/mint.ts";
import { keepMarks } from "./recovery/keep-marks.ts";
import { addCopyCommands } from "./restoring/copying/copy-commands.ts";
import { addRecoveryCommand } from "./restoring/recovery-command.ts";
import { findLost } from "./restoring/replay/find-lost.ts";
import { type RunningServer, requireFreePort, serveApp } from "./server.ts";
import { openSite } from "./site/self-hosted/open-site.ts";
import { readSiteToken } from "./site/self-hosted/read-site-token.ts";
import { addProofCommand } from "./site/site-work/proof-command.ts";
import { type ServiceParts, startService } from "./start-service.ts";
import { requireUsable } from "./store/bucket-uploads/open-store.ts";
import { addressOf } from "./store/bucket-uploads/store-address.ts";

const SAME_SIGNAL_MS = 1000;

/** The commands of the control plane. */
export const program = new Command("downlink")
  .description("The Downlink control plane")
  .version(PROGRAM_VERSION, "--version")
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error:/, "downlink:")) })
  .addHelpText(
    "after",
    `\nSettings are environment variables (docs/reference/settings.md says what each means):\n${foldNames(settingNames)}`,
  );
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
program
  .command("site")
  .description("serve a self-hosted site: its files stay here, and its control plane decides")
  .requiredOption("--url <address>", "the address of the control plane", readAddress)
  .option("--site-token-file <path>", "the file with the site's token; else DOWNLINK_SITE_TOKEN has it")
  .option("--site-token <token>", "the token itself; others on this machine can see it in the list of processes")
  .option("--accept-store", "serve this store in the place of one that is lost: recordings without data say so")
  .action(runSite);
const admin = program.command("admin").description("operate this deployment");
admin.command("create-org <name>").description("create an organization and print its admin API key").action(createOrg);
addLimitsCommand(admin, { beside: withDeps });
admin
  .command("sweep")
  .description("remove from the store what crashes left there, and report what is missing")
  .option("--dry-run", "only print what would be removed", false)
  .option("--older-than <hours>", "leave alone what is younger", readHours, DEFAULT_AGE_HOURS)
  .option("--include-unknown", "remove whole objects that no row ever named, too", false)
  .action(sweepStore);

addCheckCommand(admin, { beside: withDeps });
addBackupCommands(admin, {
  readConfig: () => readConfig(process.env),
  beside: open,
});
addCopyCommands(admin, { beside: withDeps });
addJobCommands(admin, { beside: withDeps });
addOrganizationCommands(admin, { beside: withDeps });
const siteCommand = admin.command("site").description("operate sites: customers' buckets, and self-hosted ones");
addAuditCommand(admin, { beside: withDeps });
addSiteCommands(siteCommand, { beside: withDeps });
addIndexingCommand(siteCommand, { beside: withDeps });
addProofCommand(siteCommand, { beside: withDeps });

admin
  .command("reindex")
  .description("make the verified indexes of imported recordings that have none")
  .option("--all", "also of those that have one", false)
  .action(reindexStore);

addRecoveryCommand(admin, { beside: withDeps });

/** A service waits for a database that is away, and ends within a bounded time once it is stopped, whatever does not close. */
async function run(parts: ServiceParts): Promise<void> {
  boundHeapGrowth();
  const { config, log, stopped } = begin();
  let stopSteps = new StopSteps();
  const giveUp = new AbortController();
  void stopped.then(() => giveUp.abort());
  void stopped.then(() => exitIfStuck({ ...config, log, steps: stopSteps }));
  await requireFreePort(config, parts);
  await requireFolder(config.dataDir, "DOWNLINK_DATA_DIR");
  await requireUsable(addressOf(config), log);
  const start = () => {
    stopSteps = new StopSteps(); // those of an attempt that failed are over
    return startService(config, log, { ...parts, stopSteps });
  };
  await using service = await retryUntilThere(start, {
    database: nameDatabase(process.env),
    log,
    signal: giveUp.signal,
  });
  const { server, health, deps } = service;
  if (server) announce(server, config, log);
  if (health) process.stdout.write(`Downlink works; its health is at ${health.url}\n`);
  await stopped;
  log.info("stopping");
  deps.beginStopping();
}

/** Lists names in lines of at most 78 characters. */
function foldNames(names: readonly string[]): string {
  return names.join(" ").replace(/(.{1,76})( |$)/g, "  $1\n");
}

function announce({ url }: RunningServer, { publicUrl, servesConsole, host }: Config, log: OpenDeps["log"]): void {
  process.stdout.write(`Downlink serves at ${url}\n`);
  const isEverywhere = host === "0.0.0.0" || host === "::";
  const here = publicUrl ?? (isEverywhere ? `http://127.0.0.1:${new URL(url).port}` : url);
  if (servesConsole) process.stdout.write(`Pages: ${here}, where an API key signs in\n`);
  process.stdout.write(`Interface: ${here}/docs\n`);
  if (publicUrl === undefined && !["127.0.0.1", "::1", "localhost"].includes(host))
    log.warn(
      "DOWNLINK_PUBLIC_URL is not set: links lead to the address of each call; set it for mails, webhooks and sign-in",
    );
}

function readAddress(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text.replace(/\/+$/, "");
  throw new InvalidArgumentError("An address such as https://downlink.example.org.");
}

interface SiteFlags {
  readonly url: string;
  readonly siteTokenFile?: string;
  readonly siteToken?: string;
  readonly acceptStore?: boolean;
}

async function runSite({ url, ...given }: SiteFlags): Promise<void> {
  boundHeapGrowth();
  const config = readSiteConfig(process.env);
  const log = openLog(config.logLevel, config.logFormat);
  for (const sentence of config.misspelt) log.warn(sentence);
  const stopSteps = new StopSteps();
  const stopped = waitUntilStopped();
  void stopped.then(() => exitIfStuck({ ...config, log, steps: stopSteps }));
  if (given.siteToken !== undefined)
    log.warn("--site-token shows the token in the list of processes; better use --site-token-file");
  const token = await readSiteToken({ ...given, fromEnvironment: config.siteToken });
  await requireUsable(addressOf(config), log);
  await using site = await openSite(config, {
    caller: { url, token },
    log,
    stopSteps,
    isStoreAccepted: given.acceptStore === true,
  });
  await using server = await serveApp(site.app, config, site);
  site.begin(server.url);
  process.stdout.write(`Downlink serves a self-hosted site at ${server.url}\n`);
  await stopped;
  log.info("stopping");
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
    await using _marks = await keepMarks({ ...deps, findLost: (sinceMs) => findLost(deps, sinceMs) });
    const nowMs = Number(deps.clock.nowNs() / 1_000_000n);
    const options = { isDryRun: dryRun, olderThanHours: olderThan, includesUnknown: includeUnknown, nowMs };
    const write = (text: string) => void process.stdout.write(text);
    const print = () => printSweep(sweep(deps, options), { isDryRun: dryRun, write });
    if (!(await withSmallHeap(print))) process.exitCode = 1;
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

type Use = (deps: OpenDeps, config: Config, stopped: Promise<void>) => Promise<void>;

/** Opens the database for a command, even beside a running control plane: if that has a Postgres of its own, the command uses it. */
async function withDeps(use: Use): Promise<void> {
  keepHeapSmall();
  await open(use, joinEmbeddedPostgres);
}

/** A command says at once that the database is away. */
async function open(use: Use, openPostgres: typeof startEmbeddedPostgres): Promise<void> {
  const { config, log, stopped } = begin();
  await using deps = await openDeps(config, log, { openPostgres });
  await use(deps, config, stopped);
}

function begin() {
  const config = readConfig(process.env);
  requireRestored(config.dataDir);
  const log = openLog(config.logLevel, config.logFormat);
  for (const sentence of config.misspelt) log.warn(sentence);
  return { config, log, stopped: waitUntilStopped() };
}

/**
 * Resolves at the first SIGTERM, SIGINT or hang-up of the terminal; a later one ends the process at once. A second one within a second
 * counts as the same, because a supervisor or a terminal signals every process of a group, and our starter passes its signal on.
 */
function waitUntilStopped(): Promise<void> {
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
