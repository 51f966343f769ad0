import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { createLinkSigner } from "../../core/signed-link.ts";
import { joinEmbeddedPostgres } from "../../db/embedded-postgres.ts";
import { readTextIfThere } from "../../store/blobs/durable-file.ts";
import { filesOf } from "../../store/blobs/file-layout.ts";
import { openStore } from "../../store/bucket-uploads/open-store.ts";
import { type StoreSettings, addressOf as storeAddressOf } from "../../store/bucket-uploads/store-address.ts";
import { BackupError } from "./backup-errors.ts";
import { type BackupDeps, makeBackup } from "./make-backup.ts";
import { type BucketAddress, openPlace } from "./open-place.ts";
import { restoreBackup } from "./restore-backup.ts";

const DEFAULT_KEPT = 7;

/** The settings of the deployment that say where its data is. */
export interface Whereabouts extends StoreSettings {
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
}

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
  addPlace(admin.command("backup"))
    .description(
      "copy the database, the objects and the notes of this deployment while it runs; the copy holds secrets",
    )
    .requiredOption("--to <place>", "a folder, or s3://bucket/prefix")
    .option("--keep <number>", "complete backups that stay there, with this one", readCount, DEFAULT_KEPT)
    .action((flags: BackupFlags) => backUp(deployment, flags));
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

function addressOf({ s3Endpoint, s3Region, s3PathStyle }: PlaceFlags): BucketAddress {
  return { endpoint: s3Endpoint, region: s3Region, forcePathStyle: s3PathStyle };
}

interface BackupFlags extends PlaceFlags {
  readonly to: string;
  readonly keep: number;
}

async function backUp(deployment: Deployment, { to, keep, ...place }: BackupFlags): Promise<void> {
  let databaseUrl: string | undefined;
  const use: Use = async (deps, { dataDir, bucket, ...store }, stopped) => {
    const address = storeAddressOf({ bucket, ...store });
    using folder = await openPlace(to, bucket, addressOf(place));
    const stopping = new AbortController();
    void stopped.then(() => stopping.abort(new BackupError("stopped; the next backup takes over what was copied")));
    const isWhole = await makeBackup(deps, {
      ...{ folder, keep, databaseUrl, write, signal: stopping.signal, nowMs: Date.now },
      fileOf: address.kind === "file" ? (key) => filesOf(address.directory, key).object : undefined,
      proofDir: join(dataDir, "backup-proof"),
      adminKey: await readTextIfThere(join(dataDir, "admin.key")),
    });
    if (!isWhole) process.exitCode = 1;
  };
  await deployment.beside(use, async (options) => {
    const server = await joinEmbeddedPostgres(options);
    databaseUrl = server.url;
    return server;
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
  using folder = await openPlace(from, bucket, addressOf(place));
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
