import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { eventually } from "@downlink/recordings/testing";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const CTRL_C = "\x03";

/** `npm start`, as a container, a supervisor or a person runs it, with all the processes that it has started. */
interface Tree {
  /** The process of npm, or of the terminal that it runs in. */
  readonly starter: ChildProcess;
  readonly npm: number;
  readonly bootstrap: number;
  /** The processes of npm and all below it, Postgres too. */
  readonly pids: readonly number[];
  readonly port: number;
  readonly dataDir: string;
  output(): string;
}

const endings: Readonly<Record<string, (tree: Tree) => void>> = {
  "SIGTERM to npm": ({ npm }) => process.kill(npm, "SIGTERM"),
  "SIGINT to npm": ({ npm }) => process.kill(npm, "SIGINT"),
  "SIGHUP to npm": ({ npm }) => process.kill(npm, "SIGHUP"),
  "SIGTERM to every process of the group, as supervisors send it": ({ npm }) => process.kill(-npm, "SIGTERM"),
  "SIGKILL of npm": ({ npm }) => process.kill(npm, "SIGKILL"),
  "SIGKILL of what stands between npm and the program": ({ bootstrap }) => process.kill(bootstrap, "SIGKILL"),
};

for (const [ending, end] of Object.entries(endings))
  test(`${ending} ends the control plane and its Postgres cleanly`, async (t) => {
    const tree = await startTree(t, ["npm", "start"]);
    end(tree);
    await assertCleanEnd(tree);
  });

test("a container that stops sees the exit code of a clean end", async (t) => {
  const tree = await startTree(t, ["npm", "start"]);
  const exited = once(tree.starter, "exit");
  tree.starter.kill("SIGTERM");
  assert.deepEqual(await exited, [0, null]);
});

const onTerminal: Readonly<Record<string, (tree: Tree) => void>> = {
  "Ctrl-C on a terminal": ({ starter }) => starter.stdin!.write(CTRL_C),
  "a terminal that is closed": ({ starter }) => starter.kill("SIGKILL"),
};

for (const [ending, end] of Object.entries(onTerminal))
  test(`${ending} ends the control plane and its Postgres cleanly`, async (t) => {
    const tree = await startTree(t, ["script", "-qfec", "npm start", "/dev/null"]);
    end(tree);
    await assertCleanEnd(tree);
  });

for (const signal of ["SIGTERM", "SIGKILL"] as const)
  test(`${signal} to npm ends a demo with the control plane and the agent that it started`, async (t) => {
    const { starter, untilPrinted } = startCommand(t, ["npm", "run", "demo", "--", "--keep"]);
    await untilPrinted(/Asking for every recording/);
    const pids = processesOf(starter.pid!);
    assert.ok(pids.length > 5, String(pids.length));
    starter.kill(signal);
    await eventually(
      async () => running(pids),
      ({ length }) => length === 0,
    );
  });

async function startTree(t: TestContext, command: readonly string[]): Promise<Tree> {
  const dataDir = await mkdtemp(join(tmpdir(), "downlink-npm-"));
  t.after(() => rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  const { starter, untilPrinted, output } = startCommand(t, command, {
    DOWNLINK_DATA_DIR: dataDir,
    DOWNLINK_PORT: "0",
  });
  const [, port] = await untilPrinted(/Downlink serves at http:\/\/127\.0\.0\.1:(\d+)/);
  const pids = processesOf(starter.pid!);
  const find = (pattern: RegExp) => pids.find((pid) => pattern.test(commandLine(pid)))!;
  const tree = { starter, npm: find(/^npm/), bootstrap: find(/node scripts\/bootstrap/), pids, output, dataDir };
  assert.ok(pids.some((pid) => /postgres/.test(commandLine(pid))));
  return { ...tree, pids: pids.filter((pid) => pid !== starter.pid || pid === tree.npm), port: Number(port) };
}

function startCommand(t: TestContext, [command, ...args]: readonly string[], more: Record<string, string> = {}) {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(DOWNLINK_|DATABASE_URL|NODE_TEST)/.test(name));
  const env = { ...Object.fromEntries(inherited), ...more };
  const starter = spawn(command!, args, { cwd: ROOT, env, stdio: "pipe", detached: true });
  let output = "";
  for (const stream of [starter.stdout, starter.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  t.after(() => {
    for (const pid of running([starter.pid!])) process.kill(pid, "SIGKILL");
  });
  const untilPrinted = (pattern: RegExp) =>
    eventually(
      async () => pattern.exec(output),
      (match) => match !== null,
    ) as Promise<RegExpExecArray>;
  return { starter, untilPrinted, output: () => output };
}

/** Postgres was shut down and not cut off: it removes this file only then. */
async function assertCleanEnd({ pids, port, dataDir }: Tree): Promise<void> {
  await eventually(
    async () => running(pids).map(commandLine),
    ({ length }) => length === 0,
  );
  assert.ok(!existsSync(join(dataDir, "postgres", "data", "postmaster.pid")));
  await assert.rejects(once(connect(port, "127.0.0.1"), "connect"), { code: "ECONNREFUSED" });
}

/** Lists a process and all that it has started, directly or indirectly. */
function processesOf(pid: number): number[] {
  const rows = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n");
  const children = Map.groupBy(
    rows.map((row) => row.trim().split(/\s+/).map(Number) as [number, number]),
    ([, parent]) => parent,
  );
  const found = [pid];
  for (const one of found) found.push(...(children.get(one) ?? []).map(([child]) => child));
  return found;
}

function running(pids: readonly number[]): number[] {
  return pids.filter((pid) => commandLine(pid) !== "");
}

/** Returns an empty text for a process that has ended. */
function commandLine(pid: number): string {
  try {
    const [line = ""] = execFileSync("ps", ["-ww", "-o", "args=", "-p", String(pid)], { encoding: "utf8" }).split("\n");
    return line.endsWith("<defunct>") ? "" : line;
  } catch (error) {
    if ((error as { status?: number }).status === 1) return "";
    throw error;
  }
}
