import { existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import { type Launcher, listLaunchers, runProgram, type ServerUser } from "./launcher.ts";

/** Debian and its derivatives keep one folder for each major version here. */
const SYSTEM_VERSIONS = "/usr/lib/postgresql";

export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
  readonly majorVersion: number;
  /** Starts the binaries, and lets them enter the cluster's folder. */
  readonly launcher: Launcher;
}

interface Wanted {
  readonly user: ServerUser | undefined;
  /** The folder that the server must be able to enter. */
  readonly dir: string;
  /** The version of the existing cluster; undefined if any version will do. */
  readonly majorVersion: number | undefined;
}

/** Finds the binaries of the npm package, or else those of the machine. Throws if none runs, or none fits the cluster. */
export async function findBinaries(wanted: Wanted): Promise<Binaries> {
  const failures: string[] = [];
  const versions: number[] = [];
  for (const folder of listFolders()) {
    const found = await tryFolder(folder, wanted, failures);
    if (found === undefined) continue;
    if (wanted.majorVersion === undefined || wanted.majorVersion === found.majorVersion) return found;
    versions.push(found.majorVersion);
  }
  throw new EmbeddedPostgresError(
    versions.length > 0 ? describeVersions(wanted, versions) : describeFailures(wanted, failures),
  );
}

function listFolders(): string[] {
  const system = existsSync(SYSTEM_VERSIONS) ? readdirSync(SYSTEM_VERSIONS).sort((a, b) => Number(b) - Number(a)) : [];
  return [findPackagedFolder(), ...system.map((version) => join(SYSTEM_VERSIONS, version, "bin"))].filter(
    (folder) => folder !== undefined,
  );
}

function findPackagedFolder(): string | undefined {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const native = resolve(dirname(createRequire(import.meta.url).resolve(name)), "..", "native");
    linkLibraries(native);
    return join(native, "bin");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}

/** Does what the package's own install script does, because that script does not run where install scripts are not allowed. */
function linkLibraries(native: string): void {
  const links = JSON.parse(readFileSync(join(native, "pg-symlinks.json"), "utf8")) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    try {
      symlinkSync(basename(source), join(native, "..", target));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EEXIST") continue;
      if (code === "EROFS" || code === "EACCES") return; // the first start of the binaries shows whether the links exist
      throw error;
    }
  }
}

async function tryFolder(folder: string, { user, dir }: Wanted, failures: string[]): Promise<Binaries | undefined> {
  const postgres = join(folder, "postgres");
  for (const launcher of listLaunchers(user)) {
    try {
      const text = await runProgram(launcher, "/bin/sh", ["-c", 'cd "$1" && exec "$2" --version', "sh", dir, postgres]);
      const majorVersion = Number(/ (\d+)/.exec(text)?.[1]);
      return { postgres, initdb: join(folder, "initdb"), majorVersion, launcher };
    } catch (error) {
      if (!(error instanceof EmbeddedPostgresError)) throw error;
      failures.push(`  ${postgres}: ${error.message}`);
    }
  }
  return undefined;
}

function describeVersions({ dir, majorVersion }: Wanted, versions: number[]): string {
  return `the database in ${dir} was made by Postgres ${majorVersion}, and here is Postgres ${versions.join(" and ")}: install Postgres ${majorVersion}, or dump it there and restore it into a new data directory`;
}

function describeFailures({ dir }: Wanted, failures: string[]): string {
  const advice = `Install Postgres, or set DATABASE_URL to one that runs elsewhere. If a folder above ${dir} or above the binaries is closed to the server's user, open it (chmod a+x) or install setpriv (util-linux).`;
  return `no Postgres starts on this machine (${process.platform} ${process.arch}).\n${failures.join("\n")}\n${advice}`;
}
