import type { Command } from "commander";
import { countJobs } from "../background/jobs/failing-jobs.ts";
import type { Deps } from "../calls/context/context.ts";
import { Prisma } from "../db/generated/client.ts";
import { newPoolReader } from "../db/read-sql.ts";
import { LAST_WHOLE_READ } from "../db/stored-data.ts";
import { readBackupState } from "../organization/members/judge-backup-age.ts";
import { print, toTime } from "./print-rows.ts";

interface Deployment {
  /** Opens the database, even beside a running control plane. */
  beside(use: (deps: Deps, config: { readonly databaseUrl: string | undefined }) => Promise<void>): Promise<void>;
}

export function addStatusCommand(admin: Command, { beside }: Deployment): void {
  admin
    .command("status")
    .description("show the state of the database and what is in it; exits with 1 if something needs an operator")
    .option("--json", "print one object of JSON", false)
    .addHelpText("after", "\nExample:\n  downlink admin status --json")
    .action(({ json }: { readonly json: boolean }) =>
      beside(async (deps, { databaseUrl }) => {
        const database = await readDatabase(deps, databaseUrl === undefined);
        const status = { database, ...(await readContents(deps)) };
        print(json ? [JSON.stringify(status)] : describe(status));
        if (status.problems.length > 0) process.exitCode = 1;
      }),
    );
}

interface ServerRow {
  readonly version: string;
  readonly sizeBytes: number;
  readonly connections: number;
  readonly maxConnections: number;
  readonly isStandby: boolean;
}

const SERVER = Prisma.sql`
  SELECT current_setting('server_version') AS version, pg_database_size(current_database())::float8 AS "sizeBytes",
    (SELECT count(*) FROM pg_stat_activity WHERE datname IS NOT NULL)::int AS connections,
    current_setting('max_connections')::int AS "maxConnections", pg_is_in_recovery() AS "isStandby"`;

async function readDatabase({ db, migrations }: Deps, isEmbedded: boolean) {
  const [server] = await newPoolReader(db)<ServerRow>(SERVER);
  return { isEmbedded, ...server!, migrations: migrations.length };
}

async function readContents(deps: Deps) {
  const { db, clock } = deps;
  const { prisma } = db;
  const nowNs = clock.nowNs();
  const deployment = await prisma.deployment.findUniqueOrThrow({ where: { id: 1 } });
  const [organizations, devices, agentsOnline, recordings, sites, members] = await Promise.all([
    prisma.organization.count(),
    prisma.device.count(),
    prisma.agent.count({ where: { leaseExpiresAtNs: { gt: nowNs } } }),
    prisma.recording.count(),
    prisma.site.count(),
    prisma.member.count(),
  ]);
  const failedImports = await prisma.importRequest.count({ where: { state: "error", isOver: false } });
  const jobs = await countJobs(db);
  const backups = await readBackups(deps);
  const [read] = await newPoolReader(db)<{ seconds: number }>(LAST_WHOLE_READ);
  const lastWholeReadAt = read!.seconds === 0 ? null : toTime(BigInt(Math.trunc(read!.seconds)) * 1_000_000_000n);
  const givenUp = jobs.reduce((sum, { failed }) => sum + failed, 0);
  return {
    counts: { organizations, members, sites, devices, agentsOnline, recordings, failedImports },
    jobs,
    backups,
    lastWholeReadAt,
    problems: [
      ...(deployment.conflict === null ? [] : [`nothing is destroyed: ${deployment.conflict}`]),
      ...(deployment.recoveringSinceNs === null
        ? []
        : [`recovering since ${toTime(deployment.recoveringSinceNs)} (downlink admin recovery)`]),
      ...(givenUp === 0 ? [] : [`${givenUp} jobs are not tried any more (downlink admin jobs)`]),
      ...(backups.isOverdue ? [describeOverdue(backups.lastAt)] : []),
    ],
  };
}

async function readBackups(deps: Deps) {
  const { lastNs, isOverdue } = await readBackupState(deps);
  return { lastAt: lastNs === undefined ? null : toTime(lastNs), isOverdue };
}

function describeOverdue(lastAt: string | null): string {
  const made = "the log of the worker says why, and downlink admin jobs";
  return lastAt === null ? `no backup was ever made (${made})` : `no backup since ${lastAt} (${made})`;
}

type Status = Awaited<ReturnType<typeof readContents>> & {
  readonly database: Awaited<ReturnType<typeof readDatabase>>;
};

function describe({ database, counts, jobs, backups, lastWholeReadAt, problems }: Status): string[] {
  const { version, sizeBytes, connections, maxConnections, migrations, isEmbedded } = database;
  const whose = isEmbedded ? "its own" : "of DATABASE_URL";
  const waiting = jobs.reduce((sum, job) => sum + job.waiting + job.retrying, 0);
  return [
    `database      ${whose}, Postgres ${version}, ${(sizeBytes / 1e6).toFixed(1)} MB, ${migrations} migrations`,
    `connections   ${connections} of ${maxConnections}`,
    `organizations ${counts.organizations} with ${counts.members} members and ${counts.sites} sites`,
    `devices       ${counts.devices}, ${counts.agentsOnline} agents online`,
    `recordings    ${counts.recordings}`,
    `imports       ${counts.failedImports} failed (downlink admin imports)`,
    `jobs          ${waiting} wait (downlink admin jobs)`,
    `backups       ${backups.lastAt === null ? "none was ever made (downlink admin backup)" : `the last one is of ${backups.lastAt}`}`,
    `stored data   ${lastWholeReadAt === null ? "none" : `all of it was read and compared since ${lastWholeReadAt}`}`,
    ...(problems.length === 0 ? ["nothing needs an operator"] : problems.map((problem) => `NEEDS YOU: ${problem}`)),
  ];
}
