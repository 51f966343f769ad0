#!/usr/bin/env node
import { Command } from "commander";
import { pino } from "pino";
import { readConfig } from "./config.ts";
import { sqlState, UNIQUE_VIOLATION } from "./db/sql-state.ts";
import { withTransaction } from "./db/transaction.ts";
import { type OpenDeps, openDeps } from "./deps.ts";
import { startServer } from "./server.ts";
import { createOrganization } from "./setup/organization.ts";
import { tellOperator } from "./tell-operator.ts";
import { mintToken } from "./tokens/mint.ts";
import { startWorker } from "./worker.ts";

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
program
  .command("admin")
  .description("operate this deployment")
  .command("create-org <name>")
  .description("create an organization and print its admin API key")
  .action(createOrg);

try {
  await program.parseAsync();
} catch (error) {
  const told = tellOperator(error);
  if (!told) throw error;
  process.stderr.write(`downlink: ${told.message}\n`);
  process.exitCode = told.exitCode;
}

async function run({ serves, works }: { serves: boolean; works: boolean }): Promise<void> {
  await withDeps(async (deps, config, stopped) => {
    await using server = serves ? await startServer(config, deps) : undefined;
    if (works) await startWorker(deps);
    if (server) process.stdout.write(`Downlink serves at ${server.url}\n`);
    await stopped;
    deps.log.info("stopping");
  });
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

type Use = (deps: OpenDeps, config: ReturnType<typeof readConfig>, stopped: Promise<void>) => Promise<void>;

async function withDeps(use: Use): Promise<void> {
  const config = readConfig(process.env);
  const log = pino({ level: config.logLevel });
  const stopped = untilToldToStop();
  await using deps = await openDeps(config, log);
  await use(deps, config, stopped);
}

/** Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. */
function untilToldToStop(): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      process.once("SIGTERM", () => process.exit(1)).once("SIGINT", () => process.exit(1));
      resolve();
    };
    process.once("SIGTERM", stop).once("SIGINT", stop);
  });
}
