import { randomBytes } from "node:crypto";
import { type Command, InvalidArgumentError } from "commander";
import { createLinkSigner } from "../../core/signed-link.ts";
import { joinEmbeddedPostgres } from "../../db/embedded-postgres.ts";
import { openStore } from "../../store/bucket-uploads/open-store.ts";
import { addressOf as storeAddressOf } from "../../store/bucket-uploads/store-address.ts";
import { backUpTo, type Whereabouts } from "./back-up-to.ts";
import { BackupError } from "./backup-errors.ts";
import type { BackupDeps } from "./make-backup.ts";
import { openPlace, type PlaceAddress } from "./open-place.ts";
import { restoreBackup } from "./restore-backup.ts";
import { verifyAndPrint } from "./verify-command.ts";

const DEFAULT_KEPT = 7;

type Use = (deps: BackupDeps, where: Whereabouts, stopped: Promise<void>) => Promise<void>;

export interface Deployment {
  readConfig(): Whereabouts;
  /** Opens the database and the store, even beside a running control plane. */
  beside(use: Use, openPostgres: typeof joinEmbeddedPostgres): Promise<void>;
}

export function addBackupCommands(admin: Command, deployment: Deployment): void {
  const addPlace = (command: Command) =>
    command
      .option("--s3-endpoint <url>", "of the place, where it is not this deployment's")
      .option("--s3-region <name>", "of the place, where it is not this deployment's")
      .option("--s3-path-style", "the name of the place's bucket stands in the path");
  const backup = addPlace(admin.command("backup"))
    .enablePositionalOptions()
    .description(
      "copy the database, the objects and the notes of this deployment while it runs; the copy holds secrets",
    )
    .option("--to <place>", "a folder, or s3://bucket/prefix, where it is not that of DOWNLINK_BACKUP_TO")
    .option(
      "--keep <number>",
      `the newest complete backups that stay there, with this one, and no others (default: ${DEFAULT_KEPT}, and those of DOWNLINK_BACKUP_KEEP_…)`,
      readCount,
    )
    .action((flags: BackupFlags) => backUp(deployment, flags));
  addPlace(backup.command("verify"))
    .description("read a whole backup and compare it with its records; exits with 0, 1 (damaged) or 2 (could not look)")
    .option("--from <place>", "a folder, or s3://bucket/prefix, where it is not that of DOWNLINK_BACKUP_TO")
    .option("--backup <time>", "another one than the newest that is complete")
    .action((flags: VerifyFlags) => verify(deployment, flags));
  addPlace(admin.command("restore"))
    .description("write a backup into an empty data directory and object store")
    .requiredOption("--from <place>", "a folder, or s3://bucket/prefix")
    .option("--backup <time>", "another one than the newest that is complete")
    .option("--leave-out-damaged", "go on without objects that are damaged in the backup", false)
    .action((flags: RestoreFlags) => restore(deployment, flags));
}

function readCount(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("A whole number, at least 1.");
}

interface PlaceFlags {
  readonly s3Endpoint?: string;
  readonly s3Region?: string;
  readonly s3PathStyle?: boolean;
}

/** Returns where a place is, for what the flags do not say by the settings. */
function addressOf({ s3Endpoint, s3Region, s3PathStyle }: PlaceFlags, { backups }: Whereabouts): PlaceAddress {
  const { endpoint, region, forcePathStyle, keyFile } = backups.address;
  return {
    endpoint: s3Endpoint ?? endpoint,
    region: s3Region ?? region,
    forcePathStyle: s3PathStyle ?? forcePathStyle,
    keyFile,
  };
}

interface BackupFlags extends PlaceFlags {
  readonly to?: string;
  readonly keep?: number;
}

async function backUp(deployment: Deployment, { to: given, keep, ...place }: BackupFlags): Promise<void> {
  let databaseUrl: string | undefined;
  const use: Use = async (deps, where, stopped) => {
    const to = requirePlace(given ?? where.backups.to, "--to");
    const stopping = new AbortController();
    void stopped.then(() => stopping.abort(new BackupError("stopped; the next backup takes over what was copied")));
    const isWhole = await backUpTo(deps, where, {
      ...{ to, databaseUrl, write, signal: stopping.signal, nowMs: Date.now },
      address: addressOf(place, where),
      keep: keep === undefined ? { last: DEFAULT_KEPT, ...where.backups.retention } : { last: keep },
      warn: (text) => write(`WARNING: ${text}`),
    });
    if (!isWhole) process.exitCode = 1;
  };
  await deployment.beside(use, async (options) => {
    const server = await joinEmbeddedPostgres(options);
    databaseUrl = server.url;
    return server;
  });
}

function requirePlace(place: string | undefined, flag: string): string {
  if (place === undefined) throw new BackupError(`${flag} has to name a place, or DOWNLINK_BACKUP_TO`);
  return place;
}

interface VerifyFlags extends PlaceFlags {
  readonly from?: string;
  readonly backup?: string;
}

async function verify(deployment: Deployment, { from, backup, ...place }: VerifyFlags): Promise<void> {
  const settings = deployment.readConfig();
  await verifyAndPrint({
    open: () =>
      openPlace(requirePlace(from ?? settings.backups.to, "--from"), settings.bucket, addressOf(place, settings)),
    ...{ backup, write },
  });
}

interface RestoreFlags extends PlaceFlags {
  readonly from: string;
  readonly backup?: string;
  readonly leaveOutDamaged: boolean;
}

async function restore(
  deployment: Deployment,
  { from, backup, leaveOutDamaged, ...place }: RestoreFlags,
): Promise<void> {
  const settings = deployment.readConfig();
  const { dataDir, bucket, databaseUrl } = settings;
  using folder = await openPlace(from, bucket, addressOf(place, settings));
  const nowNs = () => BigInt(Date.now()) * 1_000_000n;
  const links = { signer: createLinkSigner([randomBytes(32).toString("hex")]), publicUrl: () => "", clock: { nowNs } };
  const isWhole = await restoreBackup({
    ...{ folder, backup, dataDir, databaseUrl, nowNs, write },
    isLeavingOutDamaged: leaveOutDamaged,
    openBlobs: (opened, db) => openStore(opened, storeAddressOf(settings), { ...links, db }),
  });
  if (!isWhole) process.exitCode = 1;
}

function write(line: string): void {
  process.stdout.write(`${line}\n`);
}
