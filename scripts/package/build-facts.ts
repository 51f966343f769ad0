import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** The names of an architecture: those of Node, of Debian, and of binutils. */
export const architectures = {
  x64: { debian: "amd64", strip: "x86_64-linux-gnu-strip" },
  arm64: { debian: "arm64", strip: "aarch64-linux-gnu-strip" },
} as const;

export type Architecture = keyof typeof architectures;

export const ROOT = resolve(import.meta.dirname, "../..");

/** What all packages of one build have in common. Nothing in it depends on the time or on the folder of the build. */
export interface BuildFacts {
  readonly version: string;
  readonly commit: string;
  /** When the commit was made, in seconds: the time of every file that is packed. */
  readonly epochSeconds: number;
}

/** Reads the facts from the checkout. Changes that are not committed are built, too, and the version does not show them. */
export function readBuildFacts(version = manifestOf("packages/agent").version): BuildFacts {
  if (!/^\d+\.\d+\.\d+$/.test(version))
    throw new Error(`${version} is no version: expected three numbers, as in 1.4.0`);
  const git = (...args: string[]) => execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).trim();
  return { version, commit: git("rev-parse", "HEAD"), epochSeconds: Number(git("log", "-1", "--format=%ct")) };
}

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly description?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly exports?: unknown;
  readonly publishConfig?: { readonly exports?: unknown; readonly bin?: Readonly<Record<string, string>> };
  readonly cpu?: readonly string[];
  readonly os?: readonly string[];
  readonly libc?: readonly string[];
}

/** Reads the manifest of a package, by its folder; a relative one starts at the checkout. */
export function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(resolve(ROOT, folder), "package.json"), "utf8")) as Manifest;
}

/** Runs a program to its end with the time of the commit; what it prints to standard error is shown. */
export function runTool(
  command: readonly string[],
  { epochSeconds, cwd = ROOT }: { epochSeconds: number; cwd?: string },
): string {
  const [program, ...args] = command as [string, ...string[]];
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(epochSeconds), LC_ALL: "C", TZ: "UTC" };
  return execFileSync(program, args, {
    cwd,
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 1e9,
  });
}

/** Throws one sentence that names the tools that are missing, and the Debian packages that bring them. */
export function requireTools(wanted: readonly Architecture[]): void {
  const tools: Record<string, string> = { git: "git", tar: "tar", gzip: "gzip", xz: "xz-utils", "dpkg-deb": "dpkg" };
  for (const name of wanted)
    tools[architectures[name].strip] = `binutils-${architectures[name].strip.replace(/-strip$/, "").replace("_", "-")}`;
  const isThere = (tool: string) => spawnSync("sh", ["-c", `command -v ${tool}`]).status === 0;
  const missing = Object.keys(tools).filter((tool) => !isThere(tool));
  if (missing.length === 0) return;
  const packages = missing.map((tool) => tools[tool]).join(" ");
  throw new Error(
    `missing here: ${missing.join(", ")}; install with \`apt-get install --no-install-recommends ${packages}\``,
  );
}
