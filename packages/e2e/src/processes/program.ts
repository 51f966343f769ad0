import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const PACKAGES = new URL("../../../", import.meta.url);
/** What is started here ends with this process, also when that is killed. */
const END_WITH_PARENT = new URL("../scripts/end-with-parent.mjs", PACKAGES).href;

export interface Program extends AsyncDisposable {
  readonly pid: number;
  /** What it printed so far, both streams. */
  output(): string;
  /** Resolves with the first line that matches; fails with the output when the program ends first. */
  line(pattern: RegExp): Promise<string>;
  /** Resolves once it has ended, with its exit code or the signal's name. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>;
  readonly ended: Promise<number | NodeJS.Signals>;
}

interface Start {
  /** Below `packages/`. */
  readonly script: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** For Node itself. */
  readonly nodeArgs?: readonly string[];
  /** The command that becomes it, as `nsenter` does: nothing, if it is started as it is. */
  readonly within?: readonly string[];
}

/** Starts one of our programs as a user does: a process of its own, on the Node that runs this. */
export function startProgram({ script, args, env, nodeArgs = [], within = [] }: Start): Program {
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(DOWNLINK_|DATABASE_URL|NODE_TEST)/.test(name)),
  );
  const path = fileURLToPath(new URL(script, PACKAGES));
  const flags = ["--disable-warning=ExperimentalWarning", "--import", END_WITH_PARENT, ...nodeArgs];
  const [command, ...commandArgs] = [...within, process.execPath, ...flags, path, ...args];
  const child = spawn(command!, commandArgs, {
    env: { ...inherited, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit").then(([code, signal]) => (signal ?? code) as number | NodeJS.Signals);
  const lines = collectLines(child);
  return {
    pid: child.pid!,
    ended,
    output: () => lines.seen.join("\n"),
    line: (pattern) => lines.find(pattern, ended),
    end,
    [Symbol.asyncDispose]: async () => void (await end("SIGKILL")),
  };

  function end(signal: NodeJS.Signals) {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    return ended;
  }
}

function collectLines(child: ChildProcess) {
  const seen: string[] = [];
  const waiting = new Set<(line: string) => void>();
  for (const stream of [child.stdout!, child.stderr!])
    createInterface({ input: stream }).on("line", (line) => {
      seen.push(line);
      for (const tell of waiting) tell(line);
    });
  return {
    seen,
    async find(pattern: RegExp, ended: Promise<unknown>): Promise<string> {
      const known = seen.find((line) => pattern.test(line));
      if (known !== undefined) return known;
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const tell = (line: string) => pattern.test(line) && resolve(line);
      waiting.add(tell);
      void ended.then(() => reject(new Error(`it ended before it printed ${pattern}:\n${seen.join("\n")}`)));
      return promise.finally(() => waiting.delete(tell));
    },
  };
}
