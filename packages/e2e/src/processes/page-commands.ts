// Tests run the commands of a page as they are written there, in a checkout of their own.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { eventually } from "@downlink/recordings/testing";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

/** Returns the commands of each shell block of a page's section, with continued lines joined. */
export function commandsBelow(page: string, heading: string): string[][] {
  const [, section] = readFileSync(join(ROOT, page), "utf8").split(`${heading}\n`);
  const blocks = section!.split("\n## ")[0]!.matchAll(/```sh\n(.*?)```/gs);
  return Array.from(blocks, ([, text]) =>
    text!
      .replaceAll(/\\\n */g, "")
      .trim()
      .split("\n"),
  );
}

type Environment = Readonly<Record<string, string>>;

/** A checkout in which nothing was run yet, and that shares its packages with this one. */
export interface Checkout {
  readonly folder: string;
  /** Runs a command to its end, and returns what it printed. */
  run(command: string, env?: Environment): Promise<string>;
  /** Begins what does not end by itself; it ends with the test. */
  begin(command: string, env?: Environment): { printed(pattern: RegExp): Promise<RegExpExecArray> };
}

/** It goes with the test, after the programs that were begun in it. */
export async function openCheckout(t: { after(close: () => Promise<void>): void }): Promise<Checkout> {
  const stack = new AsyncDisposableStack();
  t.after(() => stack.disposeAsync());
  const folder = await mkdtemp(join(tmpdir(), "downlink-first-"));
  stack.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  for (const name of ["package.json", "scripts", "packages", "prisma", "node_modules"])
    symlinkSync(join(ROOT, name), join(folder, name));
  mkdirSync(join(folder, "recordings"));
  return {
    folder,
    async run(command, env = {}) {
      const options = { cwd: folder, env: environment(env) };
      return (await promisify(execFile)("bash", ["-c", command], options)).stdout;
    },
    begin(command, env = {}) {
      const options = { cwd: folder, env: environment(env), stdio: "pipe" } as const;
      const child: ChildProcess = spawn("bash", ["-c", `exec ${command}`], options);
      const exited = once(child, "exit");
      stack.defer(async () => {
        child.kill("SIGTERM");
        await exited;
      });
      return { printed: printedBy(child) };
    },
  };
}

function environment(more: Environment): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(DOWNLINK_|DATABASE_URL|NODE_TEST)/.test(name));
  return { ...Object.fromEntries(inherited), ...more };
}

function printedBy(child: ChildProcess): (pattern: RegExp) => Promise<RegExpExecArray> {
  let output = "";
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const find = async (pattern: RegExp) => pattern.exec(output);
  return (pattern) =>
    eventually(
      () => find(pattern),
      (match) => match !== null,
    ) as Promise<RegExpExecArray>;
}
