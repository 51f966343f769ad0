import { execFile } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";

/** The user that owns the cluster. Undefined: the user that runs this process. */
export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

/** The way to start a program as the server's user. */
export interface Launcher {
  readonly user: ServerUser | undefined;
  /** The command before the program, if the user needs a capability to reach its folders. */
  readonly prefix: readonly string[];
}

/** The environment of a server program: PGPORT and the like of this process would change what it does. */
const SERVER_ENVIRONMENT = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  LC_ALL: "C.UTF-8",
  TZ: "UTC",
};

/**
 * Postgres refuses to run as root. Then the owner of the cluster runs it; a new cluster belongs to `postgres`, or else to `nobody`.
 */
export function chooseServerUser(dataDir: string): ServerUser | undefined {
  const owner = statSync(dataDir, { throwIfNoEntry: false });
  const self = process.getuid?.();
  if (self !== 0) {
    if (owner === undefined || owner.uid === self) return undefined;
    throw new EmbeddedPostgresError(
      `${dataDir} belongs to the user with id ${owner.uid}: run as that user or as root, or choose another data directory`,
    );
  }
  if (owner === undefined) return findUser("postgres") ?? findUser("nobody") ?? throwNoUser();
  if (owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  throw new EmbeddedPostgresError(
    `${dataDir} belongs to root, and Postgres does not run as root: give it to another user (chown -R postgres: ${dataDir})`,
  );
}

/**
 * Lists the launchers to try, the one with the fewest rights first. A folder above the cluster or above the binaries may be closed to the
 * server's user (a 0700 temporary folder, /root): then one capability lets it pass. Containers often have only the second launcher. Without
 * the secure bit, access(2) would ignore the capability, and Postgres uses access(2) to find its own programs.
 */
export function listLaunchers(user: ServerUser | undefined): Launcher[] {
  if (user === undefined) return [{ user, prefix: [] }];
  const ids = [`--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups", "--securebits=+no_setuid_fixup"];
  const withCapability = (name: string): Launcher => ({
    user: undefined,
    prefix: ["setpriv", ...ids, `--inh-caps=+${name}`, `--ambient-caps=+${name}`, "--"],
  });
  return [{ user, prefix: [] }, withCapability("dac_read_search"), withCapability("dac_override")];
}

/** Returns the command line of a program started by this launcher, and the options that it needs. */
export function launch(launcher: Launcher, program: string, args: readonly string[]) {
  const [command, ...rest] = [...launcher.prefix, program, ...args] as [string, ...string[]];
  return { command, args: rest, options: { ...launcher.user, cwd: "/", env: SERVER_ENVIRONMENT } };
}

/** Runs a program to its end. Throws an {@link EmbeddedPostgresError} with what it printed. */
export async function runProgram(launcher: Launcher, program: string, args: readonly string[]): Promise<string> {
  const { command, args: allArgs, options } = launch(launcher, program, args);
  try {
    return (await promisify(execFile)(command, allArgs, options)).stdout;
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    throw new EmbeddedPostgresError(
      `${[...launcher.prefix.slice(0, 1), program].join(" ")}: ${stderr?.trim() || message}`,
      { cause: error },
    );
  }
}

function findUser(name: string): ServerUser | undefined {
  const line = readFileSync(join("/etc", "passwd"), "utf8")
    .split("\n")
    .find((candidate) => candidate.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(":") ?? [];
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}

function throwNoUser(): never {
  throw new EmbeddedPostgresError(
    "Postgres does not run as root, and this machine has neither a user postgres nor nobody: run Downlink as an ordinary user, or set DATABASE_URL",
  );
}
