import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Cluster, giveFolder, prepareCluster } from "./embedded/cluster.ts";
import { ClusterInUseError } from "./embedded/embedded-postgres-error.ts";
import { joinServer, socketUrl } from "./embedded/join-server.ts";
import { newClaim, reclaimDataDirectory } from "./embedded/server-claim.ts";
import { type ServerCommand, ServerProcess } from "./embedded/server-process.ts";

export interface EmbeddedPostgresOptions {
  /** The folder that holds the cluster: it is made if it is missing, given to the server's user, and closed to all others. */
  readonly dir: string;
  /** Server settings that override the defaults, by their names in postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly log: PostgresLog;
  /** The cluster is removed after the end, even if this process was killed, and the folder too if the server's user may remove it. */
  readonly isTemporary?: boolean;
}

export interface PostgresLog {
  info(message: string): void;
  warn(message: string): void;
}

export interface EmbeddedPostgres extends AsyncDisposable {
  /** The URL of the database `postgres` for node-postgres: through a Unix socket, as superuser, without a password. */
  readonly url: string;
  /** Resolves when the server has ended. A second call does nothing. */
  stop(): Promise<void>;
}

const SOCKET_NAME = ".s.PGSQL.5432";
/** The number of bytes that a socket's address holds on every system that we run on. */
const SOCKET_PATH_LIMIT = 103;
const FIRST_RESTART_MS = 100;
const SLOWEST_RESTART_MS = 5000;
/** The backends of a server that was killed take a moment to notice it. */
const FORMER_SERVER_MS = 10_000;

/**
 * Starts a real Postgres that belongs to this process: it ends with this process in whatever way that ends, and is started again if it dies
 * alone. It is durable unless the settings say otherwise. Throws an {@link EmbeddedPostgresError} that says what to do.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const dir = resolve(options.dir);
  try {
    return await start({ ...options, dir });
  } catch (error) {
    if (options.isTemporary) rmSync(dir, { recursive: true, force: true });
    throw error;
  }
}

/**
 * Does what {@link startEmbeddedPostgres} does, but if another process serves the cluster already, that server is used, and stopping leaves
 * it running. This is for commands beside a running control plane: the server ends with its own process.
 */
export async function joinEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  for (;;) {
    try {
      return await startEmbeddedPostgres(options);
    } catch (error) {
      if (!(error instanceof ClusterInUseError)) throw error;
      const url = await joinServer(error);
      const stop = async () => {};
      if (url !== undefined) return { url, stop, [Symbol.asyncDispose]: stop };
    }
  }
}

async function start({
  dir,
  settings = {},
  log,
  isTemporary = false,
}: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const cluster = await prepareCluster({ dir, isDurable: settings.fsync !== "off" });
  const socketDir = chooseSocketDir(cluster.dir);
  const claim = newClaim(randomBytes(8).toString("hex"));
  const command: ServerCommand = {
    launcher: cluster.binaries.launcher,
    postgres: cluster.binaries.postgres,
    args: listArguments(cluster.dataDir, claim, { unix_socket_directories: `"${socketDir}"`, ...settings }),
    url: socketUrl(socketDir),
    leftovers: isTemporary ? cluster.dir : undefined,
    onLogLine: (line) => log.info(`postgres: ${line}`),
  };
  return supervise({ cluster, socketDir, claim, command, log, isTemporary });
}

interface Supervision {
  readonly cluster: Cluster;
  readonly socketDir: string;
  readonly claim: string;
  readonly command: ServerCommand;
  readonly log: PostgresLog;
  readonly isTemporary: boolean;
}

async function supervise(supervision: Supervision): Promise<EmbeddedPostgres> {
  const { cluster, socketDir, command, isTemporary } = supervision;
  const stopping = new AbortController();
  const server = { current: await startServer(supervision) };
  const watching = isTemporary ? Promise.resolve() : keepAlive(supervision, server, stopping.signal);
  const stop = async () => {
    stopping.abort();
    await watching;
    await server.current.stop();
    if (socketDir !== cluster.dir) rmSync(socketDir, { recursive: true, force: true });
    if (isTemporary) rmSync(cluster.dir, { recursive: true, force: true });
  };
  return { url: command.url, stop, [Symbol.asyncDispose]: stop };
}

/** Ends when it is told to stop; the server may have died at that moment. */
async function keepAlive(
  supervision: Supervision,
  server: { current: ServerProcess },
  signal: AbortSignal,
): Promise<void> {
  const { log } = supervision;
  const aborted = new Promise((done) => signal.addEventListener("abort", done, { once: true }));
  for (let waitMs = FIRST_RESTART_MS; ; ) {
    await Promise.race([server.current.exited, aborted]);
    if (!signal.aborted) log.warn(`postgres: the server died; starting it again in ${waitMs} ms`);
    await Promise.race([delay(waitMs, undefined, { ref: false }), aborted]);
    if (signal.aborted) return;
    try {
      server.current = await startServer(supervision);
      waitMs = FIRST_RESTART_MS;
    } catch (error) {
      log.warn(`postgres: ${(error as Error).message}`);
      waitMs = Math.min(waitMs * 2, SLOWEST_RESTART_MS);
    }
  }
}

async function startServer({ cluster, socketDir, claim, command }: Supervision): Promise<ServerProcess> {
  const deadline = performance.now() + FORMER_SERVER_MS;
  for (;;) {
    await reclaimDataDirectory(cluster.dataDir, claim);
    if (socketDir !== cluster.dir) makeSocketDir(socketDir, cluster);
    try {
      return await ServerProcess.start(command);
    } catch (error) {
      const isFormerServerLeaving = /shared memory block|lock file/.test((error as Error).message);
      if (!isFormerServerLeaving || performance.now() > deadline) throw error;
      await delay(FIRST_RESTART_MS);
    }
  }
}

/** The socket lies beside the data, unless that path is too long for a socket's address. */
function chooseSocketDir(dir: string): string {
  const fits = (candidate: string) => Buffer.byteLength(join(candidate, SOCKET_NAME)) <= SOCKET_PATH_LIMIT;
  if (fits(dir)) return dir;
  const name = `downlink-${randomBytes(8).toString("hex")}`;
  return [join(tmpdir(), name), join("/tmp", name)].find(fits) ?? dir;
}

function makeSocketDir(socketDir: string, cluster: Cluster): void {
  mkdirSync(socketDir, { recursive: true, mode: 0o700 });
  giveFolder(socketDir, cluster.user);
}

function listArguments(dataDir: string, claim: string, settings: Readonly<Record<string, string>>): string[] {
  const all = {
    listen_addresses: "",
    port: "5432",
    unix_socket_permissions: "0700",
    max_connections: "100",
    shared_buffers: "128MB",
    random_page_cost: "1.1", // no disk that we run on has to seek
    timezone: "UTC",
    log_timezone: "UTC",
    // Failed statements reach their caller; the log is for messages that only the server has.
    log_min_messages: "log",
    log_checkpoints: "off",
    ...settings,
  };
  return ["-D", dataDir, "-c", claim, ...Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`])];
}
