import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "@downlink/client";
import { undiciTransport } from "@downlink/client/node";
import type { Capability } from "@downlink/protocol";
import { pino } from "pino";
import { openFileIndexer } from "../background/indexing/file-indexer.ts";
import { createOrganization } from "../calls/setup/organization.ts";
import { readConfig } from "../config.ts";
import type { Clock } from "../core/clock.ts";
import { newId } from "../db/ids.ts";
import { withTransaction } from "../db/transaction.ts";
import { type OpenDeps, openDeps } from "../deps.ts";
import { hashToken, mintToken } from "../process/credentials/mint.ts";
import type { Limits } from "../process/limits/limits.ts";
import type { PublicFetch } from "../process/outgoing/public-fetch.ts";
import { Passwords } from "../process/passwords/passwords.ts";
import { keepMarks } from "../recovery/keep-marks.ts";
import { findLost } from "../restoring/replay/find-lost.ts";
import { startServer } from "../server.ts";
import { startWorker } from "../worker.ts";
import { checkStatuses } from "./check-statuses.ts";
import { createTestDatabase } from "./test-database.ts";
import { storeSettings } from "./test-store.ts";

export interface TestCloud {
  readonly url: string;
  readonly adminKey: string;
  readonly dataDir: string;
  readonly deps: OpenDeps;
  /** A client that may do everything in the first organization. */
  readonly admin: Client;
  /** Returns the text of a new key of the first organization. */
  addKey(capabilities: readonly Capability[], projectIds?: readonly string[]): Promise<string>;
  /** Returns a client with some token. */
  withToken(token: string): Client;
  /** Returns the admin of another, new organization. */
  otherOrganization(): Promise<Client>;
}

interface Options {
  readonly clock?: Clock;
  readonly fetchPublic?: PublicFetch;
  /** Whether a worker runs. */
  readonly works?: boolean;
  /** Further settings of the operator. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly limits?: Partial<Limits>;
  /** The folder of another one that this is a replica of; it has its database then, too. */
  readonly dataDir?: string;
}

/** Control planes of many tests run beside each other, so that those that wait leave the processors and connections to the others. */
const JOBS = { lookSeconds: 4, connections: 2 };
/** A thread costs as much as a small test, so that all control planes of a process have the same ones, which end with it. */
const indexer = { ...openFileIndexer(), [Symbol.asyncDispose]: async () => {} };

/** Starts a whole control plane on a database, a folder and a port of its own, which closes with the test. */
export async function startCloud(
  t: { after(close: () => Promise<void>): void },
  { clock, fetchPublic, works = true, environment: more = {}, limits, dataDir: shared }: Options = {},
): Promise<TestCloud> {
  const stack = new AsyncDisposableStack();
  t.after(() => stack.disposeAsync());
  const dataDir = shared ?? (await mkdtemp(join(tmpdir(), "downlink-cloud-")));
  if (shared === undefined) stack.defer(() => rmSync(dataDir, { recursive: true }));
  const adminKey = mintToken("dl_sk");
  const environment = {
    DOWNLINK_PORT: "0",
    DOWNLINK_CONSOLE: "off", // its files would be read again for each control plane
    DOWNLINK_DATA_DIR: dataDir,
    DOWNLINK_ADMIN_KEY: adminKey,
    DATABASE_URL: await createTestDatabase(t),
    ...storeSettings(dataDir),
    ...more,
  };
  const read = readConfig(environment);
  const config = { ...read, limits: { ...read.limits, ...limits } };
  const log = pino({ level: process.env.DOWNLINK_LOG_LEVEL ?? "silent" });
  const quick = { jobs: JOBS, passwords: new Passwords({ rounds: 2 }), indexer };
  const deps = stack.use(await openDeps(config, log, { clock, fetchPublic, ...quick }));
  stack.defer(() => checkStatuses(deps));
  stack.use(await keepMarks({ ...deps, findLost: (sinceMs) => findLost(deps, sinceMs) }));
  const server = stack.use(await startServer(config, deps));
  if (works) stack.use(await startWorker(deps));
  const transport = undiciTransport();
  const withToken = (token: string) => createClient({ baseUrl: server.url, token, transport });
  return {
    url: server.url,
    adminKey,
    dataDir,
    deps,
    admin: withToken(adminKey),
    withToken,
    addKey: (capabilities, projectIds = []) => addKey(deps, { adminKey, capabilities, projectIds }),
    otherOrganization: async () => {
      const adminToken = mintToken("dl_sk");
      await withTransaction(deps.db, (tx) =>
        createOrganization(tx, { name: newId("org"), adminToken, nowNs: deps.clock.nowNs() }),
      );
      return withToken(adminToken);
    },
  };
}

interface NewKey {
  readonly adminKey: string;
  readonly capabilities: readonly string[];
  readonly projectIds: readonly string[];
}

async function addKey(deps: OpenDeps, { adminKey, capabilities, projectIds }: NewKey): Promise<string> {
  const where = { credential: { tokenSha256: hashToken(adminKey) } };
  const { orgId } = await deps.db.prisma.apiKey.findFirstOrThrow({ where });
  const token = mintToken("dl_sk");
  const held = { capabilities: [...capabilities], projectIds: [...projectIds] };
  await deps.db.prisma.apiKey.create({
    data: {
      id: newId("key"),
      orgId,
      name: "test",
      credential: { create: { tokenSha256: hashToken(token) } },
      createdAtNs: deps.clock.nowNs(),
      ...held,
    },
  });
  return token;
}
