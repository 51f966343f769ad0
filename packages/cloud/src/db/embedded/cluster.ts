import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
} from "node:fs";
import { open, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Binaries, findBinaries } from "./binaries.ts";
import { chooseServerUser, runProgram, type ServerUser } from "./launcher.ts";
import { inspectProcess } from "./process-facts.ts";

export interface Cluster {
  /** The folder that holds the data directory; only the server's user may enter it. */
  readonly dir: string;
  readonly dataDir: string;
  readonly user: ServerUser | undefined;
  readonly binaries: Binaries;
}

interface ClusterOptions {
  readonly dir: string;
  /** False only for data that may be lost. */
  readonly isDurable: boolean;
}

/** Opens the cluster in a folder, or makes a new one there. Only that folder is given to the server's user. */
export async function prepareCluster({ dir: wantedDir, isDurable }: ClusterOptions): Promise<Cluster> {
  mkdirSync(dirname(wantedDir), { recursive: true });
  mkdirSync(wantedDir, { recursive: true, mode: 0o700 });
  const dir = realpathSync(wantedDir);
  const dataDir = join(dir, "data");
  const user = chooseServerUser(dataDir);
  giveFolder(dir, user);
  const binaries = await findBinaries({ user, dir, majorVersion: readMajorVersion(dataDir) });
  const cluster = { dir, dataDir, user, binaries };
  await removeInterrupted(dir);
  if (!existsSync(dataDir)) await createCluster(cluster, isDurable);
  return cluster;
}

/** Makes a folder the server user's own, and closes it to everybody else. */
export function giveFolder(dir: string, user: ServerUser | undefined): void {
  if (user !== undefined) chownSync(dir, user.uid, user.gid);
  chmodSync(dir, 0o700);
}

function readMajorVersion(dataDir: string): number | undefined {
  const file = join(dataDir, "PG_VERSION");
  return existsSync(file) ? Number.parseInt(readFileSync(file, "utf8"), 10) : undefined;
}

/**
 * Removes the folder that a process left when it was killed in initdb; that initdb may still be writing. The folder of a live process is
 * left alone.
 */
async function removeInterrupted(dir: string): Promise<void> {
  for (const name of readdirSync(dir)) {
    const pid = Number(/^initdb-(\d+)$/.exec(name)?.[1]);
    if (Number.isNaN(pid) || (pid !== process.pid && inspectProcess(pid) !== undefined)) continue;
    await rm(join(dir, name), { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
  }
}

/** The data directory is made under another name first: once it has its own name it is complete. */
async function createCluster({ dir, dataDir, binaries }: Cluster, isDurable: boolean): Promise<void> {
  const unfinished = join(dir, `initdb-${process.pid}`);
  const sync = isDurable ? [] : ["--no-sync"];
  const options = "-U postgres --auth=trust -E UTF8 --locale=C.UTF-8 --no-instructions".split(" ");
  await runProgram(binaries.launcher, binaries.initdb, ["-D", unfinished, ...options, ...sync]);
  if (existsSync(dataDir)) return rmSync(unfinished, { recursive: true }); // another process made it first
  renameSync(unfinished, dataDir);
  if (isDurable) await syncFolder(dir);
}

async function syncFolder(dir: string): Promise<void> {
  await using folder = await open(dir);
  await folder.sync();
}
