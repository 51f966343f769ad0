import { glob, mkdtemp, readdir, readFile, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ApiCallError, type Client, NetworkError } from "@downlink/client";
import { type ControlPlane, startControlPlane } from "../processes/control-plane.ts";
import { eventually } from "../processes/eventually.ts";
import { sha256Of } from "../processes/scenario.ts";
import { startTcpProxy, type TcpProxy } from "../processes/tcp-proxy.ts";

/** Where robots live. */
export interface Ground {
  /** Each in a folder below. */
  readonly folder: string;
  /** The control plane, as the agents reach it. */
  readonly url: string;
  /** After a start of the control plane another one: it is somewhere else then. */
  readonly admin: Client;
}

/** One control plane for many robots, which may be killed and begun anew while they work. */
export interface FaultBed extends Ground, AsyncDisposable {
  /** Everything between agents and cloud goes through here. */
  readonly proxy: TcpProxy;
  /** Kills the control plane and waits until it serves again. */
  crashCloud(): Promise<void>;
  /** Kills its Postgres, which it starts again by itself. */
  crashPostgres(): Promise<void>;
  /** How many stored objects have each SHA-256. */
  countObjects(): Promise<Map<string, number>>;
}

const IN_MEMORY = "/dev/shm";
const NEEDED_BYTES = 2 * 1024 ** 3;
/** While many lives kill one control plane, each waits for it again and again. */
const PATIENCE_MS = 240_000;

interface Options {
  /** At which address the proxy listens. */
  readonly host?: string;
  /** By which URL the agents know it. */
  readonly reachedAs?: (proxyUrl: string) => string;
  readonly cloudEnv?: Readonly<Record<string, string>>;
}

export async function openFaultBed({ host, reachedAs = (url) => url, cloudEnv }: Options = {}): Promise<FaultBed> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join((await hasRoom()) ? IN_MEMORY : tmpdir(), "downlink-faults-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const dataDir = join(folder, "cloud");
  const proxy = stack.use(await startTcpProxy({ host }));
  const url = reachedAs(proxy.url);
  const start = async () => {
    const started = await startControlPlane({ dataDir, env: { DOWNLINK_PUBLIC_URL: url, ...cloudEnv } });
    proxy.leadTo(started.url);
    void tellOfEnd(started, () => isClosing);
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
    crashCloud: () =>
      restarts(async () => {
        proxy.leadTo(undefined);
        await cloud.program.end("SIGKILL");
        cloud = await start();
      }),
    crashPostgres: () => restarts(() => killPostgres(dataDir)),
    countObjects: createObjectCount(join(dataDir, "objects")),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** A control plane that ends by itself would only be missed, minutes later, by lives that have no part in it. */
async function tellOfEnd({ program }: ControlPlane, isClosing: () => boolean): Promise<void> {
  const how = await program.ended;
  if (how === "SIGKILL" || isClosing()) return;
  process.stderr.write(`the control plane ended by itself with ${how}:\n${program.output()}\n`);
}

/** Asks again while the cloud does not answer, and until the answer is as wanted. */
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
  if (path === undefined) return; // It is being started anew already.
  const [pid] = (await readFile(path, "utf8")).split("\n");
  // A number that was left behind may be another process by now.
  const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  if (command.includes(dirname(path))) process.kill(Number(pid), "SIGKILL");
}

/** One after the other, in the order of the calls. */
function createTurns() {
  let last: Promise<unknown> = Promise.resolve();
  return (work: () => Promise<void>): Promise<void> => {
    const turn = last.then(work);
    last = turn.catch(() => {});
    return turn;
  };
}

/** An object never changes: each is read once. */
function createObjectCount(directory: string) {
  const known = new Map<string, string>();
  return async () => {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true });
    const whole = entries.filter((entry) => entry.isFile() && !entry.name.includes("."));
    const counts = new Map<string, number>();
    for (const { parentPath, name } of whole) {
      const path = join(parentPath, name);
      const sha256 = known.get(path) ?? (await sha256Of(path));
      known.set(path, sha256);
      counts.set(sha256, (counts.get(sha256) ?? 0) + 1);
    }
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
