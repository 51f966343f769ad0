import { type Command, InvalidArgumentError } from "commander";
import { CommandError } from "../../core/command-error.ts";
import type { Database } from "../../db/client.ts";
import { countJobs, type FailingJob, findFailing, type QueueCounts, retryNow } from "./failing-jobs.ts";

interface Deployment {
  /** Opens the database, even beside a running control plane. */
  beside(use: (deps: { readonly db: Pick<Database, "pool"> }) => Promise<void>): Promise<void>;
}

interface Flags {
  readonly retry?: string;
  readonly limit: number;
  readonly json: boolean;
}

const DEFAULT_LIMIT = 100;

export function addJobCommands(admin: Command, { beside }: Deployment): void {
  admin
    .command("jobs")
    .description("show how many jobs there are and which of them fail; exits with 1 if some are not tried any more")
    .option("--retry <id>", "try this job again now; all: every job that fails")
    .option("--limit <number>", "show at most so many jobs that fail", readCount, DEFAULT_LIMIT)
    .option("--json", "print each queue and each job as a line of JSON", false)
    .addHelpText("after", "\nExamples:\n  downlink admin jobs\n  downlink admin jobs --retry all")
    .action((flags: Flags) =>
      beside(({ db }) => (flags.retry === undefined ? show(db, flags) : retry(db, flags.retry))),
    );
}

function readCount(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("A number.");
}

async function show(db: Pick<Database, "pool">, { limit, json }: Flags): Promise<void> {
  const [queues, jobs] = [await countJobs(db), await findFailing(db, limit)];
  const lines = json ? [...queues, ...jobs].map((row) => JSON.stringify(row)) : describe(queues, jobs);
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
  if (queues.some(({ failed }) => failed > 0)) process.exitCode = 1;
}

function describe(queues: readonly QueueCounts[], jobs: readonly FailingJob[]): string[] {
  if (queues.length === 0) return ["no job waits, runs or fails"];
  const counts = queues.map(
    ({ name, waiting, active, retrying, failed }) =>
      `${name}: ${waiting} wait, ${active} run, ${retrying} are tried again, ${failed} are not tried any more`,
  );
  return [...counts, ...jobs.map(describeJob)];
}

function describeJob({ id, name, attempts, data, error, nextAt }: FailingJob): string {
  const next = nextAt ? `tried again at ${nextAt.toISOString()}` : "not tried any more";
  return `${id} ${name} ${JSON.stringify(data)}: ${attempts} attempts, ${next}: ${error ?? "no reason was kept"}`;
}

async function retry(db: Pick<Database, "pool">, which: string): Promise<void> {
  const count = await retryNow(db, which);
  if (count === 0 && which !== "all")
    throw new CommandError(`no job ${which} fails; downlink admin jobs lists those that do`);
  process.stdout.write(`${count} ${count === 1 ? "job is" : "jobs are"} tried again now\n`);
}
