import { chmodSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { listFiles, strip } from "./archives.ts";
import { type Architecture, type BuildFacts, manifestOf } from "./build-facts.ts";
import { makeCompletions } from "./completions.ts";
import { type Command, makeManPage } from "./help-pages.ts";
import { findDependency } from "./install-dependencies.ts";
import { placeProgram } from "./place-packages.ts";
import type { SbomSubject } from "./sbom.ts";

export type Program = "agent" | "cli" | "cloud";

export interface PackagePlace {
  /** Holds what is needed for the build only. */
  readonly work: string;
  readonly out: string;
  /** The folder into which the dependencies were installed. */
  readonly installed: string;
  /** The public key of those who sign releases; without one nothing is pinned. */
  readonly publicKey: string | undefined;
}

export interface Making {
  readonly architecture: Architecture;
  readonly place: PackagePlace;
  readonly facts: BuildFacts;
}

/** Places a program with the runtime that it was tested with: `bin/node`, `app/` and `VERSION`. Returns what it consists of. */
export function placeVersion(
  program: Program,
  version: string,
  { architecture, place, facts }: Making,
): Pick<SbomSubject, "packages" | "nodeVersion" | "architecture"> {
  const runtime = findDependency(place.installed, `node-linux-${architecture}`);
  if (runtime === undefined) throw new Error(`the runtime for ${architecture} is not installed`);
  const node = join(version, "bin/node");
  copyProgram(join(runtime, "bin/node"), node);
  cpSync(join(runtime, "LICENSE"), join(version, "LICENSE-node"));
  const into = join(version, "app");
  const packages = placeProgram(program, { ...place, architecture, into, version: facts.version });
  const addons = listFiles(into).filter((path) => path.endsWith(".node"));
  for (const binary of [node, ...addons.map((path) => join(into, path))]) strip(binary, architecture, facts);
  write(join(version, "VERSION"), `${facts.version}\n`);
  return { architecture, packages, nodeVersion: manifestOf(runtime).version };
}

/** The folders of `share/` in which manual pages and completions are. */
export const HELP = ["man", "bash-completion", "zsh", "fish"];

/** Places the manual page of a program and its completions, both made from its help texts. */
export function placeHelp(program: Command, share: string, facts: BuildFacts): void {
  write(join(share, `man/man1/${program.name()}.1`), makeManPage(program, facts));
  for (const [path, text] of Object.entries(makeCompletions(program))) write(join(share, path), text);
}

export function copyProgram(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to);
  chmodSync(to, 0o755);
}

export function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
