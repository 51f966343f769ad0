import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../main.ts", import.meta.url));

export interface AgentProcess extends AsyncDisposable {
  readonly pid: number;
  readonly exited: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>;
  kill(signal: NodeJS.Signals): void;
}

/** The real program, as a process of its own, with only the given settings. */
export function startAgent(args: readonly string[], environment: Readonly<Record<string, string>> = {}): AgentProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(DOWNLINK_|NODE_TEST)|_proxy$/i.test(name));
  const child = spawn(process.execPath, [main, ...args], { env: { ...Object.fromEntries(inherited), ...environment } });
  const exited = collect(child);
  return {
    pid: child.pid!,
    exited,
    kill: (signal) => void child.kill(signal),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** Runs one command to its end. */
export async function runAgent(...args: string[]) {
  return await startAgent(args).exited;
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
