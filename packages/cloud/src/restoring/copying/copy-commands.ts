import type { Command } from "commander";
import type pg from "pg";
import type { Deps } from "../../calls/context/context.ts";
import { ApiError } from "../../core/errors.ts";
import { Prisma } from "../../db/generated/client.ts";
import { withTransaction } from "../../db/transaction.ts";
import { requireRightStore } from "../../keeping/stores/open-stores.ts";
import { findMove, type StoreMove } from "../../keeping/stores/store-move.ts";
import { requireSafeToDestroy } from "../../recovery/held-deployment.ts";
import { keepMarks } from "../../recovery/keep-marks.ts";
import { goMarkRound } from "../../recovery/mark-round.ts";
import { MarkNotes } from "../../recovery/marks.ts";
import { openStore } from "../../store/bucket-uploads/open-store.ts";
import {
  addressOf,
  nameStore,
  type StoreAddress,
  type StoreSettings,
} from "../../store/bucket-uploads/store-address.ts";
import { findLost } from "../replay/find-lost.ts";
import { beginMove, requireApart } from "./begin-move.ts";
import type { CopyDeps } from "./copy-deps.ts";
import { CopyError } from "./copy-errors.ts";
import { type CopyExit, copyExits } from "./copy-exits.ts";
import { copyStore } from "./copy-store.ts";
import { abandonMove } from "./current-move.ts";
import { openTarget } from "./open-target.ts";
import { type BucketFlags, readTarget, settingsOf } from "./read-target.ts";

/** The first of the two numbers of an advisory lock of Postgres is that of `calls/recovery/removals-held.ts`. */
const COPIES = 72707370;
const ONE_COPY = 3;

type CommandDeps = Pick<Deps, "db" | "blobs" | "jobs" | "signer" | "publicUrl" | "clock" | "log">;

interface Settings extends StoreSettings {
  readonly backupRetentionSeconds: number;
}

interface Deployment {
  /** Opens the database and the store, even beside a running control plane. */
  beside(use: (deps: CommandDeps, settings: Settings, stopped: Promise<void>) => Promise<void>): Promise<void>;
}

interface CopyFlags extends BucketFlags {
  readonly to?: string;
  readonly leaveOutDamaged: boolean;
  readonly abandon: boolean;
}

export function addCopyCommands(admin: Command, deployment: Deployment): void {
  admin
    .command("blobs")
    .description("operate the object store")
    .command("copy")
    .description(
      "move all objects and notes to another store while the deployment runs; exits with 0, 1 (damaged objects), 2 (failed) or 3 (waiting)",
    )
    .option(
      "--to <store>",
      "file:/folder, s3://bucket/prefix or azure://account/container/prefix, which must be empty; given again, it goes on",
    )
    .option("--s3-endpoint <url>", "of the new store, where it is not this deployment's")
    .option("--s3-region <name>", "of the new store, where it is not this deployment's")
    .option("--s3-path-style", "the name of the new store's bucket stands in the path")
    .option("--s3-profile <name>", "of the new store's credentials, where they are not this deployment's")
    .option("--azure-endpoint <url>", "of the new store, where it is not in Azure's public cloud")
    .option("--leave-out-damaged", "go on without objects that are damaged in the old store", false)
    .option("--abandon", "forget a copy that new objects do not go to yet; the new store is yours to empty", false)
    .action((flags: CopyFlags) => copy(deployment, flags));
}

async function copy(deployment: Deployment, flags: CopyFlags): Promise<void> {
  process.exitCode = copyExits.failed; // this holds unless the step comes to its end
  await deployment.beside(async (deps, settings, stopped) => {
    const self = addressOf(settings);
    await requireRightStore(deps.db, deps.blobs, self);
    await using _marks = await keepMarks(toRound(deps));
    await withTransaction(deps.db, requireSafeToDestroy);
    await using _turn = await holdTurn(deps.db.pool);
    const step = flags.abandon ? abandon(deps) : goOn({ deps, settings, self, stopped }, flags);
    process.exitCode = await step.catch(sayWhich);
  });
}

/** A store that fails says so in a sentence; nothing is lost, because the same command goes on. */
function sayWhich(error: unknown): never {
  if (error instanceof ApiError) throw new CopyError(`${error.message}; the same command goes on`);
  throw error;
}

async function abandon(deps: CommandDeps): Promise<CopyExit> {
  write(`the copy in ${await abandonMove(deps)} is forgotten; empty it yourself`);
  return copyExits.done;
}

interface Running {
  readonly deps: CommandDeps;
  readonly settings: Settings;
  readonly self: StoreAddress;
  readonly stopped: Promise<void>;
}

async function goOn({ deps, settings, self, stopped }: Running, flags: CopyFlags): Promise<CopyExit> {
  await using opened = new AsyncDisposableStack();
  const move = await findMove(deps.db);
  const addresses = move ?? { source: self, target: toTarget(flags, settings) };
  if (move) requireSameTarget(move, flags, settings);
  else await requireApart(addresses.source, addresses.target);
  const stopping = new AbortController();
  void stopped.then(() => stopping.abort(new CopyError("stopped; the same command goes on")));
  const copying: CopyDeps = {
    ...{ db: deps.db, jobs: deps.jobs, clock: deps.clock, self, write, signal: stopping.signal },
    confirm: () => goMarkRound({ ...toRound(deps), marks: new MarkNotes(deps.blobs) }),
    source: await openStore(opened, addresses.source, deps),
    target: await openTarget(opened, addresses.target, deps),
  };
  if (!move) await beginMove(copying, addresses);
  return await copyStore(copying, {
    isLeavingOutDamaged: flags.leaveOutDamaged,
    retentionSeconds: settings.backupRetentionSeconds,
    settings: settingsOf(addresses.target),
  });
}

function toRound(deps: CommandDeps) {
  return { ...deps, findLost: (sinceMs: number) => findLost(deps, sinceMs) };
}

function toTarget({ to, ...bucket }: CopyFlags, settings: Settings): StoreAddress {
  if (to === undefined) throw new CopyError("nothing moves to another store; --to names one");
  return readTarget(to, bucket, settings);
}

function requireSameTarget({ target }: StoreMove, flags: CopyFlags, settings: Settings): void {
  if (flags.to === undefined || nameStore(toTarget(flags, settings)) === nameStore(target)) return;
  throw new CopyError(`the objects move to ${nameStore(target)} already`);
}

function write(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** One command copies at a time. The lock is that of a connection, so that it ends with this process. */
async function holdTurn(pool: pg.Pool): Promise<AsyncDisposable> {
  const client = await pool.connect();
  const { rows } = await client.query<{ isMine: boolean }>(
    Prisma.sql`SELECT pg_try_advisory_lock(${COPIES}, ${ONE_COPY}) AS "isMine"`,
  );
  if (!rows[0]!.isMine) {
    client.release();
    throw new CopyError("another command copies to another store at this moment");
  }
  return {
    async [Symbol.asyncDispose]() {
      await client.query(Prisma.sql`SELECT pg_advisory_unlock_all()`).catch(() => {}); // a lost connection holds no lock
      client.release(true);
    },
  };
}
