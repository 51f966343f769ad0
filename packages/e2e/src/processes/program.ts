import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const PACKAGES = new URL("../../../", import.meta.url);
/** A program that is started here ends with this process, even when this process is killed. */
const END_WITH_PARENT = new URL("../scripts/end-with-parent.mjs", PACKAGES).href;

export interface Program extends AsyncDisposable {
  readonly pid: number;
  /** Returns what the program has printed so far, on both streams. */
  output(): string;
  /** Resolves with the first line that matches; fails with the output if the program ends first. */
  line(pattern: RegExp): Promise<string>;
  /** Sends the signal and resolves once the program has ended, with its exit code or the signal's name. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>;
  readonly ended: Promise<number | NodeJS.Signals>;
}

interface Start {
  /** The path below `packages/`. */
  readonly script: string;
  /** The `packages/` of another checkout; undefined: those of this one. */
  readonly packages?: URL | undefined;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Arguments for Node itself. */
  readonly nodeArgs?: readonly string[];
  /** The command that becomes the program, as `nsenter` does; empty if the program is started directly. */
  readonly within?: readonly string[];
}

/** Starts one of our programs as a user does: a process of its own, on the same Node as this one. */
export function startProgram({ script, packages = PACKAGES, args, env, nodeArgs = [], within = [] }: Start): Program {
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(DOWNLINK_|DATABASE_URL|NODE_TEST)/.test(name)),
  );
  const path = fileURLToPath(new URL(script, packages));
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
      for (const check of waiting) check(line);
    });
  return {
    seen,
    async find(pattern: RegExp, ended: Promise<unknown>): Promise<string> {
      const known = seen.find((line) => pattern.test(line));
      if (known !== undefined) return known;
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const check = (line: string) => pattern.test(line) && resolve(line);
      waiting.add(check);
      void ended.then(() => reject(new Error(`it ended before it printed ${pattern}:\n${seen.join("\n")}`)));
      return promise.finally(() => waiting.delete(check));
    },
  };
}
