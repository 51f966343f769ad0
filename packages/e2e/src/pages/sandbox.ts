import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const SCRIPT = join(import.meta.dirname, "sandbox.sh");

/**
 * Returns why the commands of a page, which name these ports, cannot be run here as they are written; undefined if they can. It also prints
 * the reason, because skipped tests prove nothing.
 */
export async function whyNoSandbox(ports: readonly number[]): Promise<string | undefined> {
  const why = (await Promise.all(ports.map(whyTaken))).filter((reason) => reason !== undefined);
  if (process.getuid?.() !== 0) why.push("it runs as root only");
  else if ((await runInSandbox("command -v apt-get systemd-analyze npm git")).code !== 0)
    why.push("it needs Debian, its programs, and the right to mount an overlay file system");
  if (why.length === 0) return undefined;
  const reason = `NOT TESTED as the pages say: ${why.join("; ")}`;
  console.error(reason);
  return reason;
}

async function whyTaken(port: number): Promise<string | undefined> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
    return undefined;
  } catch {
    return `port ${port} is taken`;
  } finally {
    server.close();
  }
}

interface Contents {
  readonly env?: Readonly<Record<string, string>>;
  /** The files that the script finds in /srv/page. */
  readonly files?: Readonly<Record<string, Uint8Array>>;
}

/**
 * Runs a script in a copy of this machine, with an empty home and a repository to clone that has the present commit. It ends with this
 * process, and with everything that it started.
 */
export async function runInSandbox(
  script: string,
  { env = {}, files = {} }: Contents = {},
): Promise<{ code: unknown; output: string }> {
  const folder = await mkdtemp(join(tmpdir(), "downlink-page-"));
  try {
    await mkdir(join(folder, "copy"));
    for (const [name, bytes] of Object.entries(files)) await writeFile(join(folder, name), bytes);
    const repository = join(folder, "repository.git");
    execFileSync("git", ["init", "--quiet", "--bare", "--initial-branch", "main", repository]);
    execFileSync("git", ["push", "--quiet", repository, "HEAD:refs/heads/main"], { cwd: ROOT });
    const own = { REPOSITORY: "file:///srv/page/repository.git", HOME: "/srv/home", PATH: process.env.PATH };
    const args = ["--pdeathsig", "KILL", "--", SCRIPT, folder, script];
    const child = spawn("setpriv", args, { env: { ...own, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    const [code] = (await once(child, "close")) as [unknown];
    return { code, output };
  } finally {
    await rm(folder, { recursive: true });
  }
}
