import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@downlink/recordings/testing";

/** A Debian with a real systemd and the network of this machine. */
export interface Machine extends AsyncDisposable {
  /** Its root directory. */
  readonly root: string;
  /** Runs a shell script in it, as root. */
  run(script: string, env?: Readonly<Record<string, string>>): Promise<Ran>;
  /** Ends all of it at once, and starts it again. */
  cutPower(): Promise<void>;
}

export interface Ran {
  readonly code: number | null;
  /** The output of both streams. */
  readonly output: string;
}

const PACKAGES = "systemd,systemd-sysv,dbus,ca-certificates,curl,acl,procps";
const TOOLS = ["mmdebstrap", "systemd-nspawn", "nsenter", "tar"];

/** Says why no machine can be started here; undefined where it can. */
export function whyNoMachine(): string | undefined {
  if (process.getuid?.() !== 0) return "only root starts machines";
  const missing = TOOLS.filter((tool) => spawnSync("sh", ["-c", `command -v ${tool}`]).status !== 0);
  return missing.length > 0 ? `${missing.join(", ")}: not installed` : undefined;
}

/** Makes a fresh Debian and boots it. */
export async function startMachine(): Promise<Machine> {
  const folder = await mkdtemp(join(tmpdir(), "downlink-machine-"));
  const root = join(folder, "root");
  await mkdir(root);
  must(spawnSync("tar", ["-xf", debianArchive(), "-C", root], { encoding: "utf8" }));
  let running = await boot(root);
  const machine: Machine = {
    root,
    run: (script, env) => runIn(running.leader, script, env),
    async cutPower() {
      await end(running);
      running = await boot(root);
    },
    async [Symbol.asyncDispose]() {
      await end(running);
      await rm(folder, { recursive: true, force: true });
    },
  };
  return machine;
}

/** Runs a script in the machine, and fails with all that it printed unless it succeeds. */
export async function runWell(
  machine: Machine,
  script: string,
  env?: Readonly<Record<string, string>>,
): Promise<string> {
  const { code, output } = await machine.run(script, env);
  if (code !== 0) throw new Error(`${script}\nended with ${code}:\n${output}`);
  return output;
}

/** Copies files of this machine into the folder /srv of the other. */
export async function bring(machine: Machine, ...paths: string[]): Promise<void> {
  for (const path of paths) await cp(path, join(machine.root, "srv", path.split("/").at(-1)!), { recursive: true });
}

/** The files of a Debian, which is downloaded once, and kept. */
export function debianArchive(): string {
  const folder = join(homedir(), ".cache/downlink");
  const archive = join(folder, `bookworm-${PACKAGES.replaceAll(",", "-")}.tar`);
  if (existsSync(archive)) return archive;
  mkdirSync(folder, { recursive: true });
  const making = `${archive}.${process.pid}.tar`;
  must(
    spawnSync("mmdebstrap", ["--variant=minbase", `--include=${PACKAGES}`, "bookworm", making], { encoding: "utf8" }),
  );
  renameSync(making, archive);
  return archive;
}

interface Running {
  readonly container: ChildProcess;
  /** The machine's first process, as this machine counts. */
  readonly leader: number;
}

async function boot(root: string): Promise<Running> {
  const args = ["--quiet", "-D", root, "--register=no", "--keep-unit", "--boot"];
  const container = spawn("systemd-nspawn", args, { stdio: "ignore" });
  let leader: number | undefined;
  // Units of hardware that is not there may fail, and the machine has started nevertheless.
  const isUp = ({ output }: Ran) => /^(running|degraded)$/m.test(output) || container.exitCode !== null;
  await eventually(async () => {
    // Another process makes the first one of the machine, and ends.
    leader = container.exitCode === null ? childrenOf(container.pid!)[0] : undefined;
    return leader === undefined ? { code: 1, output: "" } : await runIn(leader, "systemctl is-system-running");
  }, isUp);
  if (leader === undefined) throw new Error(`the machine ended with ${container.exitCode}`);
  return { container, leader };
}

async function end({ container, leader }: Running): Promise<void> {
  const gone = new Promise((done) => container.once("exit", done));
  if (container.exitCode !== null || container.signalCode !== null) return;
  process.kill(leader, "SIGKILL");
  await gone;
}

/** Any thread of a process may have started one. */
export function childrenOf(pid: number): number[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  const texts = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").trim());
  return texts.flatMap((text) => (text === "" ? [] : text.split(" ").map(Number)));
}

function runIn(leader: number, script: string, env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const within = ["--target", `${leader}`, "--all", "--root", "--wdns=/", "--"];
  const child = spawn("nsenter", [...within, "sh", "-c", script], {
    env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/root", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", (code) => done({ code, output }));
  });
}

function must({ status, stderr, error }: { status: number | null; stderr: string; error?: Error | undefined }): void {
  if (status !== 0) throw error ?? new Error(stderr);
}
