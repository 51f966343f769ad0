import { glob, readFile, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ApiCallError, type Client, NetworkError } from "@downlink/client";
import { readStoredObjects } from "@downlink/cloud/testing";
import { eventually } from "@downlink/recordings/testing";
import { type ControlPlane, startControlPlane } from "../processes/control-plane.ts";
import { makeFolderUntilExit } from "../processes/folder-until-exit.ts";
import { startTcpProxy, type TcpProxy } from "../processes/tcp-proxy.ts";

/** The surroundings of robots. */
export interface Surroundings {
  /** The folder that has a folder for each robot. */
  readonly folder: string;
  /** The address at which agents reach the control plane. */
  readonly url: string;
  /** A client of the control plane; after a restart it is another one, because the address changes. */
  readonly admin: Client;
}

/** One control plane for many robots, which may be killed and started again while they work. */
export interface FaultBed extends Surroundings, AsyncDisposable {
  /** All traffic between agents and cloud goes through this proxy. */
  readonly proxy: TcpProxy;
  /** The data folder of the control plane. */
  readonly dataDir: string;
  /** Kills the control plane, does something meanwhile, and waits until it serves again. */
  crashCloud(meanwhile?: () => Promise<void>): Promise<void>;
  /** Kills the control plane's Postgres, which the control plane starts again. */
  crashPostgres(): Promise<void>;
  /** Counts the stored objects by SHA-256. */
  countObjects(): Promise<Map<string, number>>;
}

const IN_MEMORY = "/dev/shm";
const NEEDED_BYTES = 2 * 1024 ** 3;
/**
 * While many lives kill one control plane, each of them waits for it again and again. An agent whose token a database that was set back does not
 * know waits up to five minutes before it tries again.
 */
const PATIENCE_MS = 660_000;

interface Options {
  /** The address at which the proxy listens. */
  readonly host?: string;
  /** Returns the URL by which agents know the proxy. */
  readonly reachedAs?: (proxyUrl: string) => string;
  readonly cloudEnv?: Readonly<Record<string, string>>;
  /** Kills the Postgres of `DATABASE_URL`, if `cloudEnv` has one. */
  readonly crashPostgres?: () => Promise<void>;
}

export async function openFaultBed({
  host,
  reachedAs = (url) => url,
  cloudEnv,
  crashPostgres,
}: Options = {}): Promise<FaultBed> {
  await using stack = new AsyncDisposableStack();
  const folder = await makeFolder(stack);
  const dataDir = join(folder, "cloud");
  const proxy = stack.use(await startTcpProxy({ host }));
  const url = reachedAs(proxy.url);
  const start = async () => {
    const started = await startControlPlane({ dataDir, env: { DOWNLINK_PUBLIC_URL: url, ...cloudEnv } });
    proxy.leadTo(started.url);
    void reportEnd(started, () => isClosing);
    return started;
  };
  let isClosing = false;
  let cloud: ControlPlane = await start();
  stack.defer(() => cloud[Symbol.asyncDispose]());
  stack.defer(() => {
    isClosing = true;
  });
  const restarts = createTurns();
  const owned = stack.move();
  return {
    folder,
    proxy,
    url,
    get admin() {
      return cloud.admin;
    },
    dataDir,
    crashCloud: (meanwhile = async () => {}) =>
      restarts(async () => {
        proxy.leadTo(undefined);
        await cloud.program.end("SIGKILL");
        await meanwhile();
        cloud = await start();
      }),
    crashPostgres: () => restarts(crashPostgres ?? (() => killPostgres(dataDir))),
    countObjects: createObjectCount(dataDir),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Makes a folder, in memory if there is room, that is removed with the stack. */
export async function makeFolder(stack: AsyncDisposableStack): Promise<string> {
  const folder = makeFolderUntilExit((await hasRoom()) ? IN_MEMORY : tmpdir(), "downlink-faults-");
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Reports a control plane that ends by itself: otherwise it would only be missed minutes later, by lives that have nothing to do with it.
 */
async function reportEnd({ program }: ControlPlane, isClosing: () => boolean): Promise<void> {
  const how = await program.ended;
  if (how === "SIGKILL" || isClosing()) return;
  process.stderr.write(`the control plane ended by itself with ${how}:\n${program.output()}\n`);
}

/** Asks again while the cloud does not answer, until the answer is the expected one. */
export async function untilAnswered<T>(ask: () => Promise<T>, isWanted: (answer: T) => boolean): Promise<T> {
  const answered = async () => {
    try {
      return { answer: await ask() };
    } catch (failure) {
      if (failure instanceof NetworkError || (failure instanceof ApiCallError && failure.status >= 500)) return {};
      throw failure;
    }
  };
  const isAnswered = (asked: { answer?: T }) => "answer" in asked && isWanted(asked.answer as T);
  const { answer } = await eventually<{ answer?: T }>(answered, isAnswered, PATIENCE_MS);
  return answer as T;
}

async function killPostgres(dataDir: string): Promise<void> {
  const [path] = await Array.fromAsync(glob(join(dataDir, "**/postmaster.pid")));
  if (path === undefined) return; // it is being started again already
  const [pid] = (await readFile(path, "utf8")).split("\n");
  // A process id that was left behind may belong to another process by now.
  const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  if (command.includes(dirname(path))) process.kill(Number(pid), "SIGKILL");
}

/** Runs one task after the other, in the order of the calls. */
function createTurns() {
  let last: Promise<unknown> = Promise.resolve();
  return (work: () => Promise<void>): Promise<void> => {
    const turn = last.then(work);
    last = turn.catch(() => {});
    return turn;
  };
}

/** An object never changes, so each is read once. */
function createObjectCount(dataDir: string) {
  const known = new Map();
  return async () => {
    const counts = new Map<string, number>();
    for (const { sha256 } of await readStoredObjects(dataDir, known)) counts.set(sha256, (counts.get(sha256) ?? 0) + 1);
    return counts;
  };
}

async function hasRoom(): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(IN_MEMORY);
    return bavail * bsize >= NEEDED_BYTES;
  } catch {
    return false;
  }
}
