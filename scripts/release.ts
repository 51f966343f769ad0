// Makes a release in two steps: npm run release -- X.Y.Z, and npm run release -- X.Y.Z --key FILE
//
// The first gives all packages the version and writes its changes into CHANGELOG.md, to be read, mended and committed by a person. The
// second, on that commit, runs all gates and tests, makes the packages of both architectures, signed by the key, and tags the commit.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { readChanges, writeSection } from "./change-log.ts";
import { compareVersions, isVersion } from "./package/versions.ts";

const ROOT = resolve(import.meta.dirname, "..");
const LOG = join(ROOT, "CHANGELOG.md");
const MANIFESTS = ["package.json", "packages/*/package.json", "scripts/tools/package.json"];

const { values, positionals } = parseArgs({ options: { key: { type: "string" } }, allowPositionals: true });
const [version = ""] = positionals;
const refusal = whyNot();
if (refusal !== undefined) {
  console.error(`release: ${refusal}`);
  process.exitCode = 1;
} else if (values.key === undefined) prepare();
else publish(resolve(values.key));

function whyNot(): string | undefined {
  const own = ownVersion();
  if (!isVersion(version)) return "give a version of three numbers: npm run release -- 0.2.0 [--key FILE]";
  if (git("status", "--porcelain") !== "") return "the checkout has changes that are not committed";
  if (git("tag", "--list", `v${version}`) !== "") return `there is a tag v${version}`;
  if (values.key === undefined)
    return compareVersions(version, own) < 0 ? `${version} is older than ${own}, which this checkout is` : undefined;
  if (!existsSync(values.key)) return `there is no key ${values.key}: npm run package -- --new-key FILE makes one`;
  const isPrepared = own === version && readLog().includes(`## ${version} `);
  return isPrepared ? undefined : `this commit is no release ${version}: begin with npm run release -- ${version}`;
}

function prepare(): void {
  for (const path of globSync(MANIFESTS, { cwd: ROOT })) {
    const file = join(ROOT, path);
    writeFileSync(file, readFileSync(file, "utf8").replace(/^ {2}"version": "[^"]+"/m, `  "version": "${version}"`));
  }
  const last = spawnSync("git", ["describe", "--tags", "--abbrev=0", "--match", "v*"], { cwd: ROOT, encoding: "utf8" });
  const since = last.status === 0 ? [`${last.stdout.trim()}..HEAD`] : [];
  const titles = git("log", "--format=%s", ...since).split("\n");
  const day = new Date().toISOString().slice(0, 10);
  writeFileSync(LOG, writeSection(readLog(), { version, day, changes: readChanges(titles) }));
  console.log(`All packages are ${version}. Read CHANGELOG.md and say in it what a user has to know; then

  git commit --all --message "release: ${version}"
  npm run release -- ${version} --key FILE`);
}

function publish(key: string): void {
  run("npm", "run", "check");
  run("npm", "test");
  run("npm", "run", "package", "--", "--arch", "x64", "--arch", "arm64", "--key", key);
  git("tag", "--annotate", `v${version}`, "--message", `Downlink ${version}`);
  console.log(`out/ has the release, and the commit the tag v${version}. Push it with: git push origin v${version}`);
}

function ownVersion(): string {
  return (JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string }).version;
}

function readLog(): string {
  return existsSync(LOG) ? readFileSync(LOG, "utf8") : "";
}

function git(...args: string[]): string {
  return execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).trim();
}

/** Runs a command to its end, and ends with it where it fails. */
function run(...[command, ...args]: [string, ...string[]]): void {
  const { status } = spawnSync(command, args, { cwd: ROOT, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
