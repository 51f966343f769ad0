import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../main.ts", import.meta.url));

export interface AgentProcess extends AsyncDisposable {
  readonly pid: number;
  /** Resolves when the agent says that it works, or when the process ends. Without a cache of compiled files that takes long. */
  readonly started: Promise<void>;
  readonly exited: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>;
  kill(signal: NodeJS.Signals): void;
}

export interface StartOptions {
  /** The user and the group of the process, without root's other groups. */
  readonly user?: { readonly uid: number; readonly gid: number; readonly groups?: readonly number[] };
  /** The whole standard input. */
  readonly input?: string;
  /** The command that starts the program, for example within a cgroup. */
  readonly within?: readonly string[];
}

/** Starts the real program as a process of its own, with only the given settings. */
export function startAgent(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  { user, input, within = [] }: StartOptions = {},
): AgentProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(DOWNLINK_|NODE_TEST)|_proxy$/i.test(name));
  const becomes = [...within, ...(user ? becoming(user) : [])];
  const [program, ...own] = [...becomes, process.execPath, main, ...args] as [string, ...string[]];
  const child = spawn(program, own, { env: { ...Object.fromEntries(inherited), ...environment } });
  child.stdin.on("error", () => {}); // The process may end without having read its input.
  if (input !== undefined) child.stdin.end(input);
  const exited = collect(child);
  const started = Promise.race([untilPrinted(child, "agent started"), exited.then(() => {})]);
  return {
    pid: child.pid!,
    started,
    exited,
    kill: (signal) => void child.kill(signal),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

function becoming({ uid, gid, groups = [] }: NonNullable<StartOptions["user"]>): string[] {
  const others = groups.length === 0 ? "--clear-groups" : `--groups=${groups.join(",")}`;
  return ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, others];
}

export const nobody = { uid: 65_534, gid: 65_534 };

/** Returns why the program cannot run as the user `nobody` here, for tests that are then skipped. */
export function whyNotAsNobody(): string | undefined {
  if (process.getuid?.() !== 0) return "needs root, to become somebody else";
  const asks = ["test", "-x", process.execPath, "-a", "-r", main];
  const [program, ...args] = [...becoming(nobody), ...asks] as [string, ...string[]];
  return spawnSync(program, args).status === 0 ? undefined : "other users may not enter the folder of this checkout";
}

/** Runs one command to its end. */
export async function runAgent(...args: string[]) {
  return await startAgent(args).exited;
}

function untilPrinted(child: ChildProcess, words: string): Promise<void> {
  return new Promise((resolve) => {
    let text = "";
    child.stdout?.on("data", (chunk: string) => {
      text += chunk;
      if (text.includes(words)) resolve();
    });
  });
}

async function collect(child: ChildProcess) {
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (chunk: string) => {
      texts[name] += chunk;
    });
  }
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...texts };
}
