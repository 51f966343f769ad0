import { appendFileSync, cpSync, existsSync, globSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { type BuildFacts, ROOT, runTool } from "./build-facts.ts";

const PNPM = "pnpm@10.34.9";
const INPUTS = [
  "package.json",
  "pnpm-lock.yaml",
  "pnpm-workspace.yaml",
  ".pnpmfile.cjs",
  ".npmrc",
  "packages/*/package.json",
  "scripts/tools/package.json",
];

/**
 * Installs what programs need when they run, at the versions of the lock file and for both architectures, into a folder of its own: the
 * checkout itself has only what this machine runs. No script of a package runs.
 */
export function installDependencies(folder: string, facts: BuildFacts): void {
  for (const path of globSync(INPUTS, { cwd: ROOT }).sort()) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    cpSync(join(ROOT, path), join(folder, path));
  }
  const platforms = [
    "nodeLinker: isolated",
    "supportedArchitectures:",
    "  os: [linux]",
    "  cpu: [x64, arm64]",
    "  libc: [glibc]",
  ];
  appendFileSync(join(folder, "pnpm-workspace.yaml"), `\n${platforms.join("\n")}\n`);
  const options = ["--frozen-lockfile", "--prod", "--ignore-scripts", "--reporter=silent"];
  process.env.CI ??= "true"; // pnpm asks no questions then.
  runTool(["npx", "--yes", PNPM, "install", ...options], { ...facts, cwd: folder });
}

/** Returns the folder of a package that `from` depends on, or undefined where it is optional and not for Linux. */
export function findDependency(from: string, name: string): string | undefined {
  for (let at = from; at !== dirname(at); at = dirname(at)) {
    const candidate = join(at, "node_modules", name);
    if (existsSync(join(candidate, "package.json"))) return candidate;
  }
  return undefined;
}
