import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestDatabase, readStoredObjects } from "@downlink/cloud/testing";
import { api, type Recording } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { type ControlPlane, startControlPlane } from "./control-plane.ts";
import { type EdgeAgentOptions, startEdgeAgent } from "./edge-agent.ts";
import type { Program } from "./program.ts";
import { startTcpProxy, type TcpProxy } from "./tcp-proxy.ts";

export interface Scenario {
  /** All traffic between agent and cloud goes through this proxy. */
  readonly proxy: TcpProxy;
  readonly deviceId: string;
  /** The data directory of the control plane. */
  readonly dataDir: string;
  /** Undefined where the control plane runs its own Postgres. */
  readonly databaseUrl: string | undefined;
  readonly storageRoot: string;
  readonly agentOptions: EdgeAgentOptions;
  cloud(): ControlPlane;
  agent(): Program;
  startAgent(): Program;
  /** Kills the control plane. The agent gets no answers until it is started again. */
  killCloud(): Promise<void>;
  /** Starts the control plane again on its data. */
  restartCloud(): Promise<void>;
  recordings(): Promise<Recording[]>;
  /** Waits until the only recording is known, requests it, and returns its id. */
  requestOnly(): Promise<string>;
  /** Waits until a recording has the status. */
  until(status: Recording["importStatus"], id?: string): Promise<Recording>;
  /** Returns size and SHA-256 of every uploaded object, without the verified indexes beside them. */
  storedObjects(): Promise<{ sizeBytes: number; sha256: string }[]>;
}

interface Options {
  /** The control plane runs its own Postgres, as durable as in production; otherwise it uses one that tests share. */
  readonly hasOwnPostgres?: boolean;
  readonly agentEnv?: Readonly<Record<string, string>>;
  readonly cloudEnv?: Readonly<Record<string, string>>;
  /** Starts another kind of control plane, over a database of its own. */
  readonly startCloud?: typeof startControlPlane;
}

/** Starts a control plane and makes a robot's folder on this machine, all real, closed with the test. The test starts the agent. */
export async function startScenario(
  t: { after(close: () => Promise<unknown>): void },
  { agentEnv, cloudEnv, startCloud, hasOwnPostgres = startCloud !== undefined }: Options = {},
): Promise<Scenario> {
  const stack = new AsyncDisposableStack();
  t.after(() => stack.disposeAsync());
  const folder = await mkdtemp(join(tmpdir(), "downlink-e2e-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const [dataDir, storageRoot, stateDir] = [join(folder, "cloud"), join(folder, "robot"), join(folder, "agent")];
  await mkdir(storageRoot);
  const proxy = stack.use(await startTcpProxy());
  const database: Readonly<Record<string, string>> = hasOwnPostgres
    ? {}
    : { DATABASE_URL: await createTestDatabase(t) };
  const start = async () => {
    const env = { DOWNLINK_PUBLIC_URL: proxy.url, ...database, ...cloudEnv };
    const started = stack.use(await (startCloud ?? startControlPlane)({ dataDir, env }));
    proxy.leadTo(started.url);
    return started;
  };
  let cloud = await start();
  let agent: Program | undefined;
  const { deviceId, token } = await createDevice(cloud);
  const agentOptions: EdgeAgentOptions = { url: proxy.url, token, storageRoot, stateDir, env: agentEnv };
  return {
    ...{ proxy, deviceId, dataDir, databaseUrl: database.DATABASE_URL, storageRoot, agentOptions },
    ...askFor(() => cloud),
    cloud: () => cloud,
    agent: () => agent!,
    startAgent: () => {
      agent = stack.use(startEdgeAgent(agentOptions));
      return agent;
    },
    killCloud: async () => {
      proxy.leadTo(undefined);
      await cloud.program.end("SIGKILL");
    },
    restartCloud: async () => {
      cloud = await start();
    },
    storedObjects: () => storedObjects(dataDir),
  };
}

async function createDevice({ admin }: ControlPlane): Promise<{ deviceId: string; token: string }> {
  const { id: deviceId } = await admin.call(api.devices.create, { name: "rover" });
  const { token } = await admin.call(api.deviceTokens.create, { deviceId });
  return { deviceId, token: token! };
}

/** The requests that a person makes to the control plane that runs at that moment. */
function askFor(cloud: () => ControlPlane): Pick<Scenario, "recordings" | "requestOnly" | "until"> {
  const recordings = () => cloud().admin.call(api.recordings.list, {});
  return {
    recordings,
    requestOnly: async () => {
      const [only] = await eventually(recordings, (found) => found.length === 1);
      await cloud().admin.call(api.recordings.requestImport, { keyOrId: only!.id });
      return only!.id;
    },
    until: async (status, id) => {
      const isMeant = (one: Recording) => one.importStatus === status && (!id || one.id === id);
      const found = await eventually(recordings, (all) => all.some(isMeant));
      return found.find(isMeant)!;
    },
  };
}

export async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer);
  return hash.digest("hex");
}

/** Size and SHA-256 of every object that was uploaded to the control plane with this data folder. */
export async function storedObjects(dataDir: string): Promise<{ sizeBytes: number; sha256: string }[]> {
  const uploaded = (await readStoredObjects(dataDir)).filter(({ key }) => !key.includes("/idx_"));
  return uploaded.map(({ sizeBytes, sha256 }) => ({ sizeBytes, sha256 }));
}
