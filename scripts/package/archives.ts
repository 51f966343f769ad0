import { chmodSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Architecture, architectures, type BuildFacts, runTool } from "./build-facts.ts";

/** Packs a folder under its own name. The order, the owners and the times of the files are always the same. */
export function writeTarball(folder: string, file: string, facts: BuildFacts): void {
  const plain = `${file}.tar`;
  const same = [
    "--sort=name",
    "--format=gnu",
    `--mtime=@${facts.epochSeconds}`,
    "--owner=0",
    "--group=0",
    "--numeric-owner",
  ];
  runTool(["tar", ...same, "-cf", plain, "-C", dirname(folder), basename(folder)], facts);
  runTool(["sh", "-c", 'gzip -6 -n -c "$1" > "$2" && rm "$1"', "sh", plain, file], facts);
}

/** The folder holds the files as they are installed, and `DEBIAN/`. */
export function writeDeb(folder: string, file: string, facts: BuildFacts): void {
  // The number of threads decides where xz begins a new block, and so it is fixed. More than the third step costs a minute and saves 2 %.
  runTool(["dpkg-deb", "--root-owner-group", "-Zxz", "-z3", "--threads-max=2", "--build", folder, file], facts);
}

/** Removes what only debuggers read. What a shared object exports stays, and so does what addons need of the runtime. */
export function strip(binary: string, architecture: Architecture, facts: BuildFacts): void {
  runTool([architectures[architecture].strip, "--strip-unneeded", "--enable-deterministic-archives", binary], facts);
}

/** Programs may be run, and nothing else; what the packages of others say of their files differs without a reason. */
export function settleModes(folder: string, programs: readonly string[]): void {
  for (const path of listFiles(folder)) chmodSync(join(folder, path), programs.includes(path) ? 0o755 : 0o644);
}

/** All files below a folder, by their paths in it, in order. */
export function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}
