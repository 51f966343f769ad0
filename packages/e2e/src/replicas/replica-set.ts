import { randomBytes, randomInt } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Client, createClient } from "@downlink/client";
import { undiciTransport } from "@downlink/client/node";
import { storeSettings } from "@downlink/cloud/testing";
import type { ControlPlane } from "../processes/control-plane.ts";
import { type ExternalPostgres, startExternalPostgres } from "../processes/external-postgres.ts";
import { storedObjects } from "../processes/scenario.ts";
import { type Nginx, startNginx } from "./nginx.ts";
import { DRAIN_SECONDS, type Replica, startReplica } from "./replica.ts";

/** One control plane of several processes: three that serve and two that work, with a load balancer and a database of its own. */
export interface ReplicaSet extends ControlPlane {
  readonly servers: readonly Replica[];
  readonly workers: readonly Replica[];
  readonly nginx: Nginx;
  readonly postgres: ExternalPostgres;
  /** The output of processes that ended by themselves, which is always a bug. */
  readonly falls: readonly string[];
  /** The settings of its processes: where the database and the objects are. */
  readonly settings: Readonly<Record<string, string>>;
  /** Returns size and SHA-256 of every uploaded object, if they are files. */
  storedObjects(): Promise<{ sizeBytes: number; sha256: string }[]>;
  /** Makes another client with the same key. */
  makeClient(retries?: number): Client;
}

interface Options {
  readonly dataDir: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The `packages/` of the checkout of its processes; undefined: of this one. */
  readonly packages?: URL | undefined;
}

const SERVERS = 3;
const WORKERS = 2;

/** Starts all processes at the same time, on an empty database; they are ready when this resolves. */
export async function startReplicaSet({ dataDir, env = {}, packages }: Options): Promise<ReplicaSet> {
  await using stack = new AsyncDisposableStack();
  await mkdir(dataDir, { recursive: true });
  const postgres = stack.use(await startExternalPostgres(join(dataDir, "postgres")));
  const host = ownLoopback();
  const upstreams = Array.from({ length: SERVERS }, (_, at) => `${host}:${8081 + at}`);
  const nginx = stack.use(await startNginx({ folder: join(dataDir, "nginx"), address: `${host}:8080`, upstreams }));
  const adminKey = `dl_sk_${randomBytes(20).toString("hex")}`;
  const falls: string[] = [];
  const settings = {
    DOWNLINK_HOST: host,
    DOWNLINK_DATA_DIR: dataDir,
    ...storeSettings(dataDir),
    DOWNLINK_PUBLIC_URL: nginx.url,
    DOWNLINK_TRUSTED_PROXIES: "127.0.0.0/8",
    DOWNLINK_ADMIN_KEY: adminKey,
    DOWNLINK_LOG_LEVEL: "warn",
    DOWNLINK_DRAIN: `${DRAIN_SECONDS}s`,
    DOWNLINK_GRACE: "4s",
    DATABASE_URL: postgres.url,
    ...env,
  };
  const start = async (command: "serve" | "work", at: number) => {
    const [name, port] = command === "serve" ? ["DOWNLINK_PORT", 8081 + at] : ["DOWNLINK_WORK_PORT", 8091 + at];
    const onFall = (story: string) => void falls.push(story);
    const own = { ...settings, [name]: String(port) };
    return stack.use(await startReplica({ name: `${command} ${at + 1}`, command, env: own, packages, onFall }));
  };
  const [servers, workers] = await Promise.all([
    Promise.all(Array.from({ length: SERVERS }, (_, at) => start("serve", at))),
    Promise.all(Array.from({ length: WORKERS }, (_, at) => start("work", at))),
  ]);
  const makeClient = (retries = 0) =>
    createClient({ baseUrl: nginx.url, token: adminKey, transport: undiciTransport(), retries });
  const owned = stack.move();
  return {
    ...{ servers, workers, nginx, postgres, settings, falls, adminKey, makeClient, url: nginx.url },
    storedObjects: () => storedObjects(dataDir),
    admin: makeClient(),
    get program() {
      return servers[0]!.program();
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Returns an address of the loopback on which no other program listens, so that a process that was ended gets its port again. */
function ownLoopback(): string {
  return `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`;
}
